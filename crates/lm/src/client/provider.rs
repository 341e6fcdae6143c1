//! The names, wire formats and addresses of providers, and model names of the form `provider:model`.

use dsrs_metrics_values::messages::suggest::nearest;

use crate::{LmError, LmErrorKind};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    OpenAi,
    Anthropic,
    Gemini,
}

/// The providers, sorted by name. `docs/guide/models.md` has a row for each.
const PROVIDERS: [(&str, &str); 33] = [
    ("aihubmix", "https://aihubmix.com/v1/"),
    (
        "aliyun",
        "https://dashscope.aliyuncs.com/compatible-mode/v1/",
    ),
    ("anthropic", "https://api.anthropic.com/v1/"),
    ("api_route", "https://global.api-route.com/v1/"),
    ("atlascloud", "https://api.atlascloud.ai/v1/"),
    ("baidu", "https://qianfan.baidubce.com/v2/"),
    ("bigmodel", "https://open.bigmodel.cn/api/paas/v4/"),
    ("cloudgpu", "https://cloudgpu.app/v1/"),
    ("cohere", "https://api.cohere.ai/compatibility/v1/"),
    ("deepseek", "https://api.deepseek.com/v1/"),
    ("fireworks", "https://api.fireworks.ai/inference/v1/"),
    (
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/",
    ),
    ("github_copilot", "https://models.github.ai/inference/"),
    ("groq", "https://api.groq.com/openai/v1/"),
    ("heabsy", "https://api.heabsy.com/v1/"),
    ("kimi", "https://api.moonshot.ai/v1/"),
    ("mimo", "https://api.mimo.com/openai/v1/"),
    ("minimax", "https://api.minimax.io/anthropic/v1/"),
    ("mistral", "https://api.mistral.ai/v1/"),
    ("moonshot", "https://api.moonshot.cn/v1/"),
    ("nebius", "https://api.studio.nebius.ai/v1/"),
    ("ollama", "http://localhost:11434/v1/"),
    ("ollama_cloud", "https://ollama.com/v1/"),
    ("omlx", "http://127.0.0.1:8000/v1/"),
    ("open_router", "https://openrouter.ai/api/v1/"),
    ("openai", "https://api.openai.com/v1/"),
    ("opencode_go", "https://opencode.ai/zen/go/v1/"),
    (
        "qwen_cloud",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/",
    ),
    ("requesty", "https://router.requesty.ai/v1/"),
    ("runcrate", "https://api.runcrate.ai/v1/"),
    ("together", "https://api.together.xyz/v1/"),
    ("xai", "https://api.x.ai/v1/"),
    ("zai", "https://api.z.ai/api/paas/v4/"),
];

/// Returns a provider's name and its API's default address, with a trailing slash.
pub(super) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    PROVIDERS.into_iter().find(|(known, _)| *known == name)
}

/// Returns the error for the model `id`, whose provider `name` is unknown.
pub(super) fn unknown(id: &str, name: &str, model: &str) -> LmError {
    let known = PROVIDERS.map(|(name, _)| name);
    let known_and_aliases = known.into_iter().chain(ALIASES.map(|(alias, _)| alias));
    let any = "for any other OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL";
    let hint = match nearest(name, known_and_aliases) {
        Some(provider) => format!("did you mean `{provider}:{model}`? {any}"),
        None => format!(
            "write provider:model, where provider is one of {}; {any}",
            known.join(", ")
        ),
    };
    let reason = format!("unknown provider in model `{id}`; {hint}");
    LmErrorKind::Setting(reason).into()
}

/// Returns the variables that may hold the key. Messages name the first one.
pub(super) fn key_variables(provider: &str) -> Vec<String> {
    let usual = format!("{}_API_KEY", provider.to_uppercase());
    let names: &[&str] = match provider {
        "gemini" => &[&usual, "GOOGLE_API_KEY"],
        "github_copilot" => &["GITHUB_TOKEN"],
        "ollama_cloud" => &["OLLAMA_API_KEY"],
        "open_router" => &[&usual, "OPENROUTER_API_KEY"],
        "together" => &[&usual, "TOGETHER_AI_API_KEY"],
        _ => &[&usual],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the wire format for a model. OpenCode serves MiniMax models in Anthropic's format.
pub(super) fn format_of(provider: &str, model: &str) -> Format {
    match provider {
        "anthropic" | "minimax" => Format::Anthropic,
        "gemini" => Format::Gemini,
        "opencode_go" if model.to_lowercase().starts_with("minimax-") => Format::Anthropic,
        _ => Format::OpenAi,
    }
}

/// Returns a model's name as sent in requests. Fireworks' own models may omit the account.
pub(super) fn model_name(provider: &str, model: &str) -> String {
    match provider == "fireworks" && !model.contains('/') {
        true => format!("accounts/fireworks/models/{model}"),
        false => model.to_owned(),
    }
}

/// Aliases of providers and their canonical names.
pub(super) const ALIASES: [(&str, &str); 6] = [
    ("google", "gemini"),
    ("openrouter", "open_router"),
    ("grok", "xai"),
    ("together_ai", "together"),
    ("fireworks_ai", "fireworks"),
    ("qwen", "qwen_cloud"),
];

/// Splits `provider:model`. Returns `None` if a part is missing.
pub(super) fn split_id(id: &str) -> Option<(&str, &str)> {
    let (provider, model) = id.split_once(':')?;
    let (provider, model) = (provider.trim(), model.trim());
    (!provider.is_empty() && !model.is_empty()).then_some((provider, model))
}

/// Returns the canonical name of a provider: lower case, with underscores, without aliases.
pub(super) fn canonical_provider(provider: &str) -> String {
    let name = provider.to_lowercase().replace('-', "_");
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    alias.map_or(name, |(_, name)| (*name).to_owned())
}

/// Returns the name of a model with its provider's canonical name, or `None` if a part is missing.
pub(in super::super) fn canonical_id(id: &str) -> Option<String> {
    let (provider, model) = split_id(id)?;
    Some(format!("{}:{model}", canonical_provider(provider)))
}
