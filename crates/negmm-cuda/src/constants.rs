//! Lists of constants in kernel sources.

/// A list as a constexpr function of the index, which the compiler can fold.
pub(crate) fn table(name: &str, list: &[usize]) -> String {
    function("int", name, list.iter().map(usize::to_string))
}

/// The same for numbers.
pub(crate) fn floats(name: &str, list: &[f32]) -> String {
    function("float", name, list.iter().map(|number| format!("{number:e}f")))
}

fn function(kind: &str, name: &str, list: impl Iterator<Item = String>) -> String {
    let chain: String = list.enumerate().map(|(at, value)| format!("at == {at} ? {value} : ")).collect();
    format!("DEVICE constexpr {kind} {name}(int at) {{ return {chain}0; }}\n")
}
