//! Former names of method options.

/// Options of methods that have a new name, as `(old, new)`. Front ends still accept the old name, with a notice that names the
/// new one; the library itself knows only the new names.
pub const RENAMED: &[(&str, &str)] = &[];
