//! Runs a kernel: `kernels NAME COUNT`. Without arguments it prints the names.

use std::process::ExitCode;

use kernels::kernels;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => {
            kernels()
                .iter()
                .for_each(|kernel| println!("{}", kernel.name));
            ExitCode::SUCCESS
        }
        [name, count] => run(name, count),
        _ => fail("expected a name and a count; write kernels em/short 100"),
    }
}

fn run(name: &str, count: &str) -> ExitCode {
    let Ok(count) = count.parse::<usize>() else {
        return fail(&format!(
            "expected a count, found {count}; write kernels {name} 100"
        ));
    };
    let Some(kernel) = kernels().into_iter().find(|kernel| kernel.name == name) else {
        return fail(&format!("unknown kernel {name}; run kernels for the names"));
    };
    (0..count).for_each(|_| kernel.run());
    ExitCode::SUCCESS
}

fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
