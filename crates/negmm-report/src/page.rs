//! The page of a report: one HTML file with its style, plots and script inline.

use std::fmt::Write;

use negmm_draw::{Style, escaped, page_colours};

use crate::plot::{Plot, TextTable};
use crate::text::html as bdi;

/// The style of pages, without the colours.
pub const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Nothing may be loaded from anywhere, whatever the page contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The row selector, shown where the script runs: a row to select and its plot.
const ROW_SELECTOR: &str = r#"<div id="row-selector" hidden>
<h3>Select a row</h3>
<p><label for="row">Row</label> <select id="row"></select> <button type="button" id="previous">Previous</button> <button type="button" id="next">Next</button></p>
<p class="caption" id="row-caption"></p>
<div class="selected-row"><div id="row-plot"></div><div class="tables"><table id="row-facts"><caption>Prediction</caption><tbody></tbody></table><table id="row-components"><caption>Components</caption><thead><tr><th>weight</th><th>mean</th><th>sd</th></tr></thead><tbody></tbody></table><table id="row-inputs"><caption>Inputs</caption><tbody></tbody></table></div></div>
<p id="row-summary" class="caption" aria-live="polite"></p>
</div>
"#;

/// The contents of a page.
pub struct Page {
    pub target: String,
    /// Sentences about model and rows, as HTML.
    pub facts: Vec<String>,
    /// Tables of the first section.
    pub scores: Vec<Scores>,
    pub sections: Vec<Section>,
    /// Single rows, as JSON for the page's script.
    pub rows: String,
}

/// A table of scores.
pub struct Scores {
    pub heading: &'static str,
    pub caption: &'static str,
    pub table: TextTable,
}

impl Scores {
    pub fn new(caption: &'static str, table: TextTable) -> Self {
        Self { heading: "Scores", caption, table }
    }
}

/// A section of the page.
pub struct Section {
    pub id: &'static str,
    pub heading: &'static str,
    pub plots: Vec<Plot>,
}

impl Page {
    /// The page as one HTML file.
    pub fn html(&self) -> String {
        let title = escaped(&self.target);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <title>{title} – negmm report</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the report</a>\n<header>\n<h1>Model report: {}</h1>\n",
            page_colours(),
            bdi(&self.target),
        );
        for fact in &self.facts {
            let _ = writeln!(page, "<p>{fact}</p>");
        }
        page.push_str("</header>\n<nav aria-label=\"Sections\">\n");
        for Section { id, heading, .. } in &self.sections {
            let _ = writeln!(page, "<a href=\"#{id}\">{heading}</a>");
        }
        page.push_str("</nav>\n<main id=\"main\">\n");
        for section in &self.sections {
            let _ = writeln!(
                page,
                "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 id=\"{0}-heading\">{1}</h2>",
                section.id, section.heading
            );
            page.push_str("<div class=\"plots\">\n");
            for Scores { heading, caption, table: scores } in self.scores.iter().filter(|_| section.id == "scores") {
                let _ = writeln!(
                    page,
                    "<div class=\"card\"><h3>{heading}</h3>\n<p class=\"caption\">{caption}</p>\n{}</div>",
                    table(scores)
                );
            }
            section.plots.iter().for_each(|plot| page.push_str(&figure(plot)));
            page.push_str("</div>\n");
            if section.id == "rows" {
                page.push_str(ROW_SELECTOR);
            }
            page.push_str("</section>\n");
        }
        let _ = write!(
            page,
            "</main>\n<footer><p>Made by negmm {}. CRPS (continuous ranked probability score) and NLL (negative log likelihood) \
             measure whole distributions; RMSE measures the mean alone, MAE the median. This page is self-contained.</p></footer>\n\
             <script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            env!("CARGO_PKG_VERSION"),
            self.rows,
        );
        page
    }
}

fn figure(plot: &Plot) -> String {
    format!(
        "<figure class=\"card\" id=\"plot-{}\">\n<h3>{}</h3>\n<figcaption class=\"caption\">{}</figcaption>\n{}\
         <p class=\"description\">{}</p>\n<details><summary>Data as a table</summary>\n{}</details>\n</figure>\n",
        plot.name,
        bdi(plot.figure.title()),
        escaped(&plot.caption),
        plot.figure.svg(Style::Page),
        escaped(plot.figure.description()),
        table(&plot.table)
    )
}

fn table(table: &TextTable) -> String {
    let mut text = String::from("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
    table.header.iter().for_each(|cell| text.push_str(&format!("<th scope=\"col\">{}</th>", bdi(cell))));
    text.push_str("</tr></thead><tbody>\n");
    for row in &table.rows {
        text.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            match at {
                0 => text.push_str(&format!("<th scope=\"row\">{}</th>", bdi(cell))),
                _ => text.push_str(&format!("<td>{}</td>", escaped(cell))),
            }
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    text
}
