//! Time and throughput of the kernels: `cargo bench -p dsrs-metrics-kernels [-- FILTER]`.

use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::BytesCount;
use kernels::kernels;

/// The names, which divan wants before it runs anything.
static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| kernels().into_iter().map(|kernel| kernel.name).collect());

fn main() {
    divan::main();
}

#[divan::bench(args = NAMES.iter())]
fn kernel(bencher: Bencher<'_, '_>, name: &String) {
    let found = kernels().into_iter().find(|kernel| kernel.name == *name);
    let kernel = found.unwrap_or_else(|| panic!("unknown kernel {name}"));
    bencher
        .counter(BytesCount::new(kernel.bytes))
        .bench_local(|| kernel.run());
}
