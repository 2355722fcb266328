//! The list of options of a struct of settings.

/// The body of an implementation of [`Options`](crate::options::Options): fields with the specification of their option, and perhaps
/// a field of further settings whose options follow. A macro, because the list is visited by shared and by mutable reference.
///
/// ```
/// use negmm_nn::options::{self, OptionSpec, Options, option_list};
///
/// #[derive(Default)]
/// struct Settings {
///     dropout: f64,
/// }
///
/// const DROPOUT: OptionSpec = OptionSpec::new("Training", "dropout", "P", "dropout probability").from_below(0.0, 1.0);
///
/// impl Options for Settings {
///     option_list! { dropout: DROPOUT, }
/// }
///
/// let mut settings = Settings::default();
/// assert!(options::set(&mut settings, "dropout", "0.5")?);
/// assert_eq!(options::list(&settings)[0].value, "0.5");
/// # Ok::<(), negmm_dist::Error>(())
/// ```
#[macro_export]
macro_rules! option_list {
    ($($field:ident: $spec:expr,)* $(..$further:ident)?) => {
        fn for_each(&self, visit: &mut dyn FnMut(&$crate::options::OptionSpec, &dyn $crate::options::OptionValue)) {
            $(visit(&$spec, &self.$field);)*
            $(self.$further.for_each(visit);)?
            let _ = visit;
        }

        fn for_each_mut(
            &mut self,
            visit: &mut dyn FnMut(&$crate::options::OptionSpec, &mut dyn $crate::options::OptionValue),
        ) {
            $(visit(&$spec, &mut self.$field);)*
            $(self.$further.for_each_mut(visit);)?
            let _ = visit;
        }
    };
}
