//! The commands of the pages run word for word.

use crate::program;

use std::path::Path;

use program::Folder;

#[test]
fn commands_of_the_pages_run() {
    for page in ["guarantees.md", "monitoring.md"] {
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)).unwrap();
        let folder = Folder::new();
        let blocks: Vec<&str> = text.split("```sh\n").skip(1).filter_map(|block| block.split("```").next()).collect();
        assert!(!blocks.is_empty(), "{page}");
        for line in blocks.iter().flat_map(|block| block.lines()) {
            let arguments: Vec<&str> =
                line.strip_prefix("negmm ").unwrap_or_else(|| panic!("{line}")).split(' ').collect();
            let outcome = folder.run(&arguments);
            // A watch may sound the alarm.
            let allowed = if arguments[0] == "monitor" { [0, 3] } else { [0, 0] };
            assert!(outcome.code.is_some_and(|code| allowed.contains(&code)), "{line}: {}", outcome.err);
        }
    }
}
