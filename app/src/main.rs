//! The program `tessera`: the window without arguments, otherwise the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    if std::env::var_os("TESSERA_WIN").is_some() {
        let session = tessera::session::Session::new(0, 0).unwrap();
        if let Err(e) = tessera::gui::run(session, args.first().map(Into::into)) {
            eprintln!("{e:#}");
        }
        return ExitCode::SUCCESS;
    }
    tessera::cli::main()
}
