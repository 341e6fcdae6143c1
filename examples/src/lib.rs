//! Runnable programs; `quickstart` first.
