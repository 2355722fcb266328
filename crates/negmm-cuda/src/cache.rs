//! Disk cache of compiled kernels, each named by a hash of its source and compiler options.

use std::path::PathBuf;

use negmm_nn::atomic_file;

/// The kernel directory in the user's cache, if there is one.
fn folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("LOCALAPPDATA"));
    let cache = cache.or_else(|| variable("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("negmm").join("kernels"))
}

/// A cached kernel.
pub(crate) fn find(name: &str) -> Option<Vec<u8>> {
    std::fs::read(folder()?.join(name)).ok()
}

/// Stores a kernel. Errors are ignored: it is then compiled again next time.
pub(crate) fn store(name: &str, kernel: &[u8]) {
    let Some(folder) = folder() else { return };
    // Atomic: other processes may read the cache now.
    let _ = std::fs::create_dir_all(&folder).and_then(|()| atomic_file::write(&folder.join(name), kernel));
}
