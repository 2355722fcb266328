//! Responsible for compiled kernels on disk, each under the name of what it was made of.

use std::path::PathBuf;

/// The folder of compiled kernels in the user's cache; nothing where there is none.
fn folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("LOCALAPPDATA"));
    let cache = cache.or_else(|| variable("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("negmm").join("kernels"))
}

/// The kernel of that name, if it was compiled before.
pub(crate) fn find(name: &str) -> Option<Vec<u8>> {
    std::fs::read(folder()?.join(name)).ok()
}

/// Keeps a kernel. Where that fails it is compiled again next time.
pub(crate) fn keep(name: &str, kernel: &[u8]) {
    let Some(folder) = folder() else { return };
    let part = folder.join(format!("{name}.{}", std::process::id()));
    // Whole or not at all: others may look for it now.
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&part, kernel));
    if written.and_then(|()| std::fs::rename(&part, folder.join(name))).is_err() {
        let _ = std::fs::remove_file(part);
    }
}
