//! What a journal contains, and who can read it.

use std::sync::Arc;

use super::{Paid, builder, run};

#[cfg(unix)]
#[tokio::test]
async fn only_the_user_can_read_a_journal() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (journal, out) = (dir.path().join("a/journal"), dir.path().join("out.jsonl"));
    let paid: Arc<Paid> = Arc::default();
    let _ = run(builder(&paid, &out).journal(&journal), &paid).await.unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&journal), mode(&journal.join("journal.log"))), (0o700, 0o600));
}

#[tokio::test]
async fn a_directory_that_cannot_be_created_is_an_error_before_the_first_row() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let (journal, out) = (dir.path().join("file/journal"), dir.path().join("out.jsonl"));
    let paid: Arc<Paid> = Arc::default();
    let error = run(builder(&paid, &out).journal(&journal), &paid).await.unwrap_err();
    let expected =
        format!("cannot open the journal `{}`: Not a directory (os error 20)", journal.display());
    assert_eq!((error.to_string(), paid.programs()), (expected, 0));
}
