//= composite/misspelt_combination | answered | did you mean `weighted(overlap = 0.5, length = 0.5)`?
//= composite/weights_sum | answered | add 0.05
//= composite/weights_in_percent | answered | write fractions instead of percentages
//= composite/weight_negative | answered | write 0 or a positive number
//= composite/weight_missing | answered | write `length = 0.25`
//= composite/weight_as_text | answered | write `length = 0.5`
//= composite/weight_behind_a_colon | answered | write `overlap = 0.5`
//= composite/bound_without_number | answered | write `overlap >= 0.5`
//= composite/bound_greater | answered | write `overlap >= 0.5`
//= composite/bound_the_other_way | answered | write `invert(error_rate) >= 0.1`
//= composite/gate_of_components | answered | write `gate(proxy(
//= composite/gate_without_bound | answered | write `proxy(format_ok) >= 0.5`
//= composite/component_alone | answered | write `all(overlap >= 0.9)`
//= composite/combination_on_function | answered | write `#[metric(min(..))] struct Name;`
//= composite/struct_with_fields | answered | write `struct Least;`
//= composite/not_a_name | answered | write `length`
//= composite/called | answered | write `overlap`
//= composite/of_itself | answered | write other metrics
//= composite/twice | answered | write it once
//= composite/threshold_on_verdict | answered | remove it
//= composite/no_verdict | answered | write a pass threshold
//= composite/lower_is_better | answered | write `invert(error_rate)
//= composite/parameter_missing | answered | or `scaled(by = ..)` in a composite
//= composite/parameter_unknown | answered | there is a method `most` with a similar name
//= composite/parameter_of_wrong_type | understandable | rustc's E0308 at the value
//= composite/proxy_and_truth_swapped | answered | write it in `truth(..)`
//= composite/different_rows | answered | let it read fields
//= composite/over_budget | answered | write `budget = "150 msat"`
//= composite/unknown_component | understandable | rustc does not find the struct of the component
//= composite/written_by_hand | answered | add a metric written by hand with `Composite::builder(..)`
//= composite/corpus_component | answered | remove it from the composite
//= composite/components_of_each_other | misleading 4 | the macro sees one composite at a time; rustc's E0275 proposes a larger recursion limit
//= composite/function_imported_without_its_struct | misleading 2 | rustc proposes traits whose names are similar to `Em` and `F1`
