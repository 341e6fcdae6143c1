//! `--embed`: the embedding model of the metrics of a run, and a warning if no metric uses it.

use std::sync::Arc;

use crate::args::LmArguments;
use crate::core::declared::requirements::Requirement;
use crate::core::metric::Metric;
use crate::core::metric::settings::Settings;
use crate::judge::Models;

pub(super) fn set(models: Models, args: &LmArguments) -> Models {
    match &args.embed {
        Some(id) => models.with_embedder(id.as_str()),
        None => models,
    }
}

pub(super) fn warning(
    settings: Settings,
    args: &LmArguments,
    metrics: &[Arc<dyn Metric>],
) -> Option<String> {
    let id = args.embed.as_ref()?;
    let mut requirements = Vec::new();
    settings.scope_sync(|| {
        metrics
            .iter()
            .for_each(|metric| metric.requirements(&mut requirements));
    });
    // The run itself reports an invalid model.
    let is_used =
        |it: &Requirement| it.embedding_model().is_some() || it.missing_reason().is_some();
    let is_unused = !requirements.iter().any(is_used);
    is_unused.then(|| format!("warning: --embed {id}: no metric of this run uses embeddings"))
}
