//! Real rows: the figures are those of the harness and of the command line, to the last bit.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::prelude::{JsonReadOptions, ParquetReadOptions, SessionConfig, SessionContext};
use dsrs_metrics::data::DataReader;
use dsrs_metrics::metrics::Registry;
use dsrs_metrics::{Evaluate, Metric, contract::Params, runs::MetricSummary};
use dsrs_metrics_datafusion::RegisterMetric as _;

use crate::rows;

const METRICS: [(&str, &str); 5] = [
    ("answer_exact_match", "gold['answer'], pred['answer']"),
    ("answer_passage_match", "gold['answer'], pred['context']"),
    ("em", "gold['answer'], pred['answer']"),
    ("f1", "gold['answer'], pred['answer']"),
    ("rouge_l", "gold['answer'], pred['answer']"),
];

/// The files of the data set; `None` if it is absent, unless the environment requires it.
fn files() -> Option<Vec<PathBuf>> {
    let folder = std::env::var_os("DSRS_METRICS_DATA").map(|data| Path::new(&data).join("qa"));
    let entries = folder
        .as_deref()
        .and_then(|folder| std::fs::read_dir(folder).ok());
    let Some(entries) = entries else {
        assert!(
            std::env::var_os("DSRS_METRICS_REQUIRE").is_none(),
            "no folder DSRS_METRICS_DATA/qa"
        );
        eprintln!("skipped: set DSRS_METRICS_DATA to the folder with `qa`");
        return None;
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    files.sort();
    assert_eq!(files.len(), 3);
    Some(files)
}

fn metric(name: &str) -> Arc<dyn Metric> {
    Registry::builtin()
        .create(name, &Params::default())
        .unwrap()
}

/// The figures of a metric, with all their digits: mean, interval, rows.
type Figures = [String; 4];

/// The figures of the harness, as `dsrs-metrics score` prints them.
async fn of_harness(file: &Path) -> Vec<Figures> {
    let metrics: Vec<_> = METRICS.iter().map(|(name, _)| metric(name)).collect();
    let rows = DataReader::new().read([file]).unwrap();
    let result = Evaluate::builder()
        .metrics(metrics)
        .score(rows)
        .await
        .unwrap();
    let own = |summary: &&MetricSummary| METRICS.iter().any(|(name, _)| *name == summary.name);
    result.metrics.iter().filter(own).map(figures).collect()
}

fn figures(summary: &MetricSummary) -> Figures {
    let ci = summary.uncertainty.ci95().unwrap();
    let number = |value: f64| format!("{value:?}");
    let mean = summary.mean.unwrap();
    [
        number(mean),
        number(ci.low),
        number(ci.high),
        format!("{} {}", summary.scored, summary.failed),
    ]
}

/// The figures that the command line `dsrs-metrics` prints of a file, or of the files in a folder.
fn of_command(path: &Path) -> Vec<Figures> {
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let entries = std::fs::read_dir(path).unwrap();
        files = entries.map(|entry| entry.unwrap().path()).collect();
    }
    let names = METRICS.map(|(name, _)| name).join(",");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    // Not a dependency, whose features would be those of DataFusion's dependencies too, so that all are compiled again.
    let mut program = Command::new(std::env::var_os("CARGO").unwrap());
    program
        .args(["run", "--quiet", "--locked", "--manifest-path"])
        .arg(workspace);
    program.args(["-p", "dsrs-metrics", "--features", "cli,parquet", "--"]);
    program.args(["score", "-m", &names, "--json"]).args(files);
    let output = program.output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figures = |(name, _)| {
        let metric = &report["metrics"][name];
        let number = |value: &serde_json::Value| format!("{:?}", value.as_f64().unwrap());
        let [mean, low, high] = [&metric["mean"], &metric["ci95"][0], &metric["ci95"][1]];
        let counts = format!("{} {}", metric["scored"], metric["failed"]);
        [number(mean), number(low), number(high), counts]
    };
    METRICS.map(figures).to_vec()
}

/// The figures of SQL for each model, in the order of the models.
async fn of_sql(ctx: &SessionContext) -> Vec<Vec<Figures>> {
    let mut models = vec![Vec::new(); 3];
    for (name, arguments) in METRICS {
        let sql = format!(
            "SELECT s['mean'], s['ci95_low'], s['ci95_high'], s['scored'] || ' ' || s['failed'], \
             metric_mean, ci['low'] FROM (SELECT model, metric_summary({name}({arguments})) AS s, \
             metric_mean({name}({arguments})) AS metric_mean, metric_ci95({name}_details({arguments})) AS ci \
             FROM qa GROUP BY model) ORDER BY model"
        );
        let found = rows(ctx, &sql).await.unwrap();
        assert_eq!(found.len(), 3, "{name}");
        for (model, row) in models.iter_mut().zip(found) {
            let cells: Vec<String> = row.split(" | ").map(str::to_owned).collect();
            let [mean, low, high, counts, same_mean, same_low] = cells.try_into().unwrap();
            assert_eq!((&mean, &low), (&same_mean, &same_low), "{name}");
            model.push([mean, low, high, counts]);
        }
    }
    models
}

#[tokio::test]
async fn figures_of_each_model_are_those_of_the_harness_and_the_command_line_to_the_last_bit() {
    let Some(files) = files() else { return };
    let mut expected = Vec::new();
    for file in &files {
        expected.push(of_harness(file).await);
    }
    // 891 of 1,190, as DSPy computes it.
    assert_eq!(expected[0][2][0], format!("{:?}", 891.0 / 1190.0));

    let config = SessionConfig::new()
        .with_target_partitions(3)
        .with_batch_size(100);
    let ctx = SessionContext::new_with_config(config);
    ctx.register_all_builtin().unwrap();
    let folder = files[0].parent().unwrap().to_str().unwrap();
    let options = JsonReadOptions::default().file_extension(".jsonl");
    ctx.register_json("qa", folder, options).await.unwrap();
    assert_eq!(of_sql(&ctx).await, expected);

    assert_eq!(
        files
            .iter()
            .map(|file| of_command(file))
            .collect::<Vec<_>>(),
        expected
    );

    // The same rows in the files of a folder of Parquet, whose rows are in another order.
    let parquet = tempfile::tempdir().unwrap();
    let path = parquet.path().to_str().unwrap();
    let table = ctx
        .sql("SELECT * FROM qa ORDER BY id DESC, model")
        .await
        .unwrap();
    let options = DataFrameWriteOptions::new().with_single_file_output(false);
    let options = options.with_partition_by(vec!["model".to_owned()]);
    table.write_parquet(path, options, None).await.unwrap();
    ctx.deregister_table("qa").unwrap();
    let options = ParquetReadOptions::default();
    let options = options.table_partition_cols(vec![("model".to_owned(), DataType::Utf8)]);
    ctx.register_parquet("qa", path, options).await.unwrap();
    assert_eq!(of_sql(&ctx).await, expected);

    let models = ["bert", "logistic-regression-baseline", "r-netplus"];
    let folders = models.map(|model| parquet.path().join(format!("model={model}")));
    assert_eq!(folders.map(|folder| of_command(&folder)).to_vec(), expected);
}
