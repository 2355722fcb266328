//! `negmm man`: the manual page of the program and its commands.

use clap::Command;
use clap_mangen::Man;
use negmm::Error;

use crate::arguments::Arguments;
use crate::output;

/// Runs it.
pub fn run() -> Result<(), Error> {
    let mut command = Arguments::parser();
    command.build();
    let mut page = Vec::new();
    render(&command, &mut page).map_err(|error| Error::io("standard output", error))?;
    output::write("-", &page)
}

/// The page of the program, then a section for each command with its options.
fn render(command: &Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    Man::new(command.clone()).render(page)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let title = format!("{} {}", command.get_name(), sub.get_name()).to_uppercase();
        page.extend_from_slice(format!(".SH \"{title}\"\n").as_bytes());
        let man = Man::new(sub.clone());
        man.render_description_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_options_section(page)?;
    }
    Ok(())
}
