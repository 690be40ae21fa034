//! `tessera eval canopy` and `tessera eval cover-tree`: how fast mixtures are fitted, and how fast
//! cover trees answer.

use anyhow::Result;
use serde_json::json;
use tessera_core::Error;
use tessera_core::canopy::{ClusterDraw, ClusterStart, Covariance, MixtureMethod, MixtureOptions, Prior};
use tessera_core::error::display;
use tessera_core::eval::mixtures::MixtureRun;

use super::Done;
use super::librarian::count;
use super::mixture_args::{DrawChoice, EvalCanopy, EvalCoverTree, MethodChoice, ShapeChoice};
use super::output::Output;
use crate::session::Session;
use crate::session::mixtures::{MixtureFiles, shape_name};

fn method_name(method: MixtureMethod) -> &'static str {
    match method {
        MixtureMethod::Em => "em",
        MixtureMethod::Esca => "esca",
        MixtureMethod::Canopy1 => "canopy1",
        MixtureMethod::Canopy2 => "canopy2",
        MixtureMethod::Auto => "auto",
    }
}

fn options(session: &Session, arguments: &EvalCanopy) -> Result<MixtureOptions, Error> {
    if !(arguments.floor >= 0.0 && arguments.floor.is_finite()) {
        let found = arguments.floor.to_string();
        return Err(Error::Option { name: "--floor", found, expected: "a variance of 0 or more" });
    }
    let method = match arguments.method {
        MethodChoice::Em => MixtureMethod::Em,
        MethodChoice::Esca => MixtureMethod::Esca,
        MethodChoice::Canopy1 => MixtureMethod::Canopy1,
        MethodChoice::Canopy2 => MixtureMethod::Canopy2,
        MethodChoice::Auto => MixtureMethod::Auto,
    };
    let draw = match arguments.draw {
        DrawChoice::Usual => ClusterDraw::Usual,
        DrawChoice::TreeLists => ClusterDraw::TreeLists,
        DrawChoice::Rejection => ClusterDraw::Rejection,
    };
    let covariance = match arguments.covariance {
        ShapeChoice::Isotropic => Covariance::Isotropic,
        ShapeChoice::Diagonal => Covariance::Diagonal,
        ShapeChoice::Directions => Covariance::Directions,
    };
    Ok(MixtureOptions {
        clusters: arguments.clusters as usize,
        covariance,
        method,
        draw,
        start: named_start(arguments).unwrap_or_default(),
        prior: Prior { floor: arguments.floor, ..Prior::default() },
        surrogate_points: arguments.surrogate_points.map(|points| points as usize),
        candidates: arguments.candidates.map(|clusters| clusters as usize),
        steps: arguments.steps as usize,
        seed: session.seed(),
    })
}

/// The start that a word names; a file otherwise.
fn named_start(arguments: &EvalCanopy) -> Option<ClusterStart> {
    match arguments.init.to_str()? {
        "random1" => Some(ClusterStart::Random1),
        "random2" => Some(ClusterStart::Random2),
        "kmeans++" => Some(ClusterStart::KMeansPlusPlus),
        "cover-tree" => Some(ClusterStart::CoverTree),
        _ => None,
    }
}

pub(super) fn canopy(session: &Session, arguments: &EvalCanopy, out: &Output) -> Result<Done> {
    let options = options(session, arguments)?;
    let start = named_start(arguments).is_none().then_some(arguments.init.as_path());
    if let Some(file) = start.filter(|file| !file.exists()) {
        let expected = "random1, random2, kmeans++, cover-tree, or the name of a file with a row for each cluster";
        return Err(Error::Option { name: "--init", found: display(file), expected }.into());
    }
    let files = MixtureFiles { data: &arguments.data, labels: arguments.labels.as_deref(), start };
    let run = MixtureRun { options, iterations: arguments.iterations as usize, held_out: arguments.held_out as usize };
    let covariance = shape_name(run.options.covariance);
    let clusters = run.options.clusters;
    let scores = out.watched(session.progress(), || session.fit_mixture(&files, run))?;
    let method = method_name(scores.method);
    out.answer(
        || {
            json!({"method": method, "covariance": covariance, "s_per_iteration": scores.iteration_s, "s_draw": scores.draw_s,
                "s_update": scores.update_s, "s_setup": scores.setup_s, "s_tree": scores.tree_s, "s_total": scores.total_s, "one_pass_s": scores.one_pass_s,
                "purity": scores.purity, "nmi": scores.nmi, "llh_max": scores.likelihood_max, "llh_mix": scores.likelihood_mix,
                "acceptance": scores.acceptance, "densities": scores.evaluations, "clusters": clusters, "used": scores.used,
                "n": scores.n, "d": scores.d, "iterations": arguments.iterations, "bytes": scores.bytes})
        },
        || {
            let classes = match (scores.purity, scores.nmi) {
                (Some(purity), Some(nmi)) => format!("; purity {purity:.4}, normalised mutual information {nmi:.4}"),
                _ => String::new(),
            };
            format!(
                "{} ({method}, {covariance}) of {} points of {} values: {:.4} s an iteration ({:.1} passes over the data), \
                 set up in {:.2} s\nlog-likelihood of points held out {:.4} (of their clusters {:.4}){classes}; \
                 {:.1} densities a point, {:.3} of proposals accepted",
                count(clusters, "cluster"),
                scores.n,
                scores.d,
                scores.iteration_s,
                scores.iteration_s / scores.one_pass_s.max(1e-9),
                scores.setup_s,
                scores.likelihood_mix,
                scores.likelihood_max,
                scores.evaluations,
                scores.acceptance,
            )
        },
    );
    Ok(Done::Whole)
}

pub(super) fn cover_tree(session: &Session, arguments: &EvalCoverTree, out: &Output) -> Result<Done> {
    let ask = || session.ask_cover_tree(&arguments.data, &arguments.queries, arguments.k as usize, arguments.base);
    let scores = out.watched(session.progress(), ask)?;
    out.answer(
        || {
            json!({"build_s": scores.build_s, "s_per_1000": scores.query_s * 1000.0, "scan_s_per_1000": scores.scan_s * 1000.0, "compared": scores.compared, "n": scores.n,
                "k": arguments.k, "base": arguments.base, "depth": scores.depth, "degree": scores.degree})
        },
        || {
            format!(
                "{:.4} ms a query, which is compared with {:.0} of {} points (all: {:.4} ms); built in {:.2} s, {} levels, at most {} children",
                scores.query_s * 1e3,
                scores.compared,
                scores.n,
                scores.scan_s * 1e3,
                scores.build_s,
                scores.depth,
                scores.degree,
            )
        },
    );
    Ok(Done::Whole)
}
