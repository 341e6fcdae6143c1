//! Names of models: `provider:model`, with canonical provider names.

/// Aliases of providers and their canonical names.
pub(super) const ALIASES: [(&str, &str); 6] = [
    ("google", "gemini"),
    ("openrouter", "open_router"),
    ("grok", "xai"),
    ("together_ai", "together"),
    ("fireworks_ai", "fireworks"),
    ("qwen", "qwen_cloud"),
];

/// Splits `provider:model`; `None` if a part is missing.
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

/// Returns the name of a model with its provider's canonical name; `None` if a part is missing.
pub(super) fn canonical_id(id: &str) -> Option<String> {
    let (provider, model) = split_id(id)?;
    Some(format!("{}:{model}", canonical_provider(provider)))
}
