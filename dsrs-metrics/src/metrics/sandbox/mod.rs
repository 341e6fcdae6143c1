//! Metrics that run predicted code: the exit code of a command, test results, and whether more
//! tests pass than before.
//!
//! How a command is isolated is documented in [`sandbox`](crate::sandbox).

mod command;
mod exit_code;
mod files;
mod isolation;
mod stages;
mod test_results;

pub use exit_code::{Sandbox, sandbox};
pub use files::{FileSource, SandboxFiles};
pub use isolation::Isolation;
pub use test_results::{TestPass, VerificationDelta, test_pass, verification_delta};

#[cfg(test)]
mod tests {
    use super::{Sandbox, TestPass, VerificationDelta};

    #[test]
    fn shared_parameters_have_the_same_type_and_description() {
        let specs = [Sandbox::SPEC, TestPass::SPEC, VerificationDelta::SPEC];
        for name in [
            "command",
            "files",
            "check",
            "check_files",
            "timeout_secs",
            "limits",
            "folder",
            "readable",
            "isolation",
        ] {
            let [first, rest @ ..] = specs.map(|spec| {
                let param = spec.params.iter().find(|param| param.name == name).unwrap();
                (param.ty, param.doc)
            });
            assert!(!first.1.is_empty(), "{name}");
            assert_eq!(rest, [first; 2], "{name}");
        }
    }
}
