//! How kinds of elements count in a library: what its images show, what is fitted from there, and
//! how it was before the last change.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tessera::command::{Command, KindChoice};
use tessera::session::Session;
use tessera::session::harm::last_harm;
use tessera::session::kinds_kept::KindSetting;
use tessera::session::library_kinds::kind_use;
use tessera::session::library_weights::weight_use;
use tessera::session::reports::last_report;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::presets::Subject;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::progress::Progress;

use crate::desk::{ready, session, until};
use crate::world::World;

/// A world with a library of toys, 48 images, without learned features.
fn toys() -> World {
    let world = World::new();
    world.run(["generate", "toys", "--to", "toys", "--instances", "4", "--views", "2", "--side", "48"]).ended(0);
    world.run(["import", "lib.tessera", "toys"]).ended(0);
    let (session, library) = opened(&world);
    session.set_learned_features(&library, false).unwrap();
    library.into_inner().unwrap().close().unwrap();
    world
}

fn opened(world: &World) -> (Session, Mutex<Library>) {
    let session = session(world);
    let library = Mutex::new(session.open_library(&world.at("lib.tessera")).unwrap());
    (session, library)
}

fn kernels(library: &Mutex<Library>) -> Vec<LeafKernel> {
    hold(library).recogniser().ckm().options().kernels()
}

fn costs(library: &Mutex<Library>) -> Vec<f32> {
    kernels(library).iter().map(|kernel| kernel.cost).collect()
}

fn of(subject: Subject, choice: KindChoice) -> KindSetting {
    KindSetting { subject, choice }
}

/// What is known of a library's recogniser.
#[derive(Debug, PartialEq)]
struct Known {
    setting: KindSetting,
    kernels: Vec<LeafKernel>,
    loss: Option<[f64; 2]>,
    confusion: Vec<Vec<u32>>,
    /// Whether its report is of now.
    is_of_now: bool,
}

fn known(library: &Mutex<Library>) -> Known {
    let kernels = kernels(library);
    let library = hold(library);
    let used = kind_use(&library);
    let (at, report) = last_report(&library).unwrap_or_default();
    let is_of_now = at.is_some() && at == library.state().last_event();
    Known { setting: used.setting, kernels, loss: used.loss, confusion: report.confusion, is_of_now }
}

#[test]
fn a_library_is_told_what_its_images_show() {
    let world = toys();
    let train = |options: &[&str]| world.run(["train", "lib.tessera", "--json"].iter().chain(options)).ended(0).object();
    let told = |answer: &Value| ["preset", "kinds", "kinds_loss", "held_out_accuracy"].map(|key| answer[key].clone());
    let object = train(&["--kinds", "preset"]);
    assert_eq!(object["preset"], "object", "libraries begin so");
    let texture = train(&["--preset", "texture"]);
    let kernel = |kind: &Value| (kind["weight"].as_f64().unwrap(), kind["cost"].as_f64().unwrap());
    let of_kinds: Vec<(f64, f64)> = texture["kinds"].as_array().unwrap().iter().map(kernel).collect();
    assert_eq!((&texture["preset"], of_kinds), (&json!("texture"), vec![(0.12, 0.0), (1.0, 0.0), (1.2, 0.0)]), "as usual is that preset");
    assert_eq!(told(&train(&[])), told(&texture), "it stays with the library");
    let fitted = train(&["--kinds", "fitted"]);
    assert!(fitted["kinds_loss"].as_f64().unwrap() <= fitted["kinds_loss_before"].as_f64().unwrap(), "{fitted}");
    assert!(fitted["kinds"].as_array().unwrap().iter().all(|kind| kind["cost"] == 0.0), "it is fitted from there: {fitted}");
    assert_eq!(told(&train(&["--preset", "object", "--kinds", "preset"])), told(&object));
    assert_eq!(told(&train(&["--kinds", "back"])), told(&fitted));
    assert_eq!(told(&train(&["--kinds", "back"])), told(&object), "and that is taken back the same way");
    world.run(["train", "lib.tessera", "--kinds", "back", "--preset", "scene"]).ended(2).complains("brings the preset of before");
    world.run(["import", "other.tessera", "toys"]).ended(0);
    world.run(["train", "other.tessera", "--kinds", "back"]).ended(65).complains("to take back, found none so far");
    let said = world.run(["train", "other.tessera", "--preset", "texture", "--kinds", "preset"]).ended(0).stdout;
    assert!(said.contains("In use now: Surfaces, as usual: "), "{said}");
    // It can be told before there are classes.
    world.run(["import", "one.tessera", "toys", "--labels", "none"]).ended(0);
    let said = world.run(["train", "one.tessera", "--preset", "texture"]).ended(0).stdout;
    assert!(
        said.contains("There are no two classes") && said.contains("In use now: Surfaces, fitted once they are judged, and until then: "),
        "{said}"
    );
    assert_eq!(world.run(["train", "one.tessera", "--kinds", "preset", "--json"]).ended(0).object()["preset"], "texture");
}

#[test]
fn going_back_to_a_preset_or_a_fit_computes_nothing() {
    let world = toys();
    let (session, library) = opened(&world);
    let settings = [
        of(Subject::Object, KindChoice::Fitted),
        of(Subject::Scene, KindChoice::Fitted),
        of(Subject::Scene, KindChoice::Places),
        of(Subject::Scene, KindChoice::Preset),
        of(Subject::Texture, KindChoice::Preset),
    ];
    let mut before = Vec::new();
    for setting in settings {
        let is_there = session.choose_kinds(&library, setting).unwrap();
        assert_eq!(is_there, setting.choice == KindChoice::Preset, "{setting:?}");
        assert!(is_there || session.fit_kinds(&library, setting).unwrap());
        session.judge(&library, None).unwrap();
        before.push(known(&library));
    }
    assert_eq!(before.iter().map(|known| known.setting).collect::<Vec<_>>(), settings);
    for known_before in before.iter().rev().chain(&before) {
        assert!(session.choose_kinds(&library, known_before.setting).unwrap());
        assert_eq!(&known(&library), known_before);
        assert!(known_before.is_of_now);
    }
    library.into_inner().unwrap().close().unwrap();
}

#[test]
fn what_was_before_comes_back_with_its_fitted_weights() {
    let world = toys();
    let (session, library) = opened(&world);
    assert!(!session.kinds_back(&library).unwrap());
    session.judge(&library, None).unwrap();
    assert_eq!(kind_use(&hold(&library)).before, None, "fitting for the first time changes no choice");
    let fitted = known(&library);
    assert!(session.choose_kinds(&library, of(Subject::Texture, KindChoice::Preset)).unwrap());
    let words = kind_use(&hold(&library)).before.unwrap();
    assert!(words.starts_with("Single objects, fitted: ") && words.contains("edges "), "{words}");
    let texture = known(&library);
    assert!(session.kinds_back(&library).unwrap());
    assert_eq!(known(&library), fitted);
    library.into_inner().unwrap().close().unwrap();
    let (session, library) = opened(&world);
    assert!(session.kinds_back(&library).unwrap(), "it is kept when the library is closed");
    assert_eq!(known(&library), texture);
    library.into_inner().unwrap().close().unwrap();
}

#[test]
fn what_older_programs_kept_is_read_and_a_fit_in_its_place_is_taken_back() {
    let world = toys();
    let (_, library) = opened(&world);
    let usual = hold(&library).recogniser().usual_kernels().to_vec();
    let other: Vec<LeafKernel> = usual.iter().map(|kernel| LeafKernel { weight: 0.5 * kernel.weight, cost: 0.25, ..*kernel }).collect();
    let fitted = json!({"choice": "Fitted", "usual": usual, "kernels": other});
    let old = json!({"choice": "Fitted", "fitted": fitted, "images": 20, "loss": [0.5, 0.25]});
    hold(&library).keep_result("kinds", &old.to_string()).unwrap();
    library.into_inner().unwrap().close().unwrap();

    let (session, library) = opened(&world);
    let used = kind_use(&hold(&library));
    assert_eq!((used.setting, used.loss, used.before), (KindSetting::default(), Some([0.5, 0.25]), None));
    assert_eq!((kernels(&library), used.setting.subject), (other.clone(), Subject::Object));
    // The images have doubled since, so kinds are fitted anew: no cost is then 0.25.
    session.judge(&library, None).unwrap();
    assert_eq!(costs(&library), usual.iter().map(|kernel| kernel.cost).collect::<Vec<_>>());
    let anew = known(&library);
    assert!(session.kinds_back(&library).unwrap());
    let back = known(&library);
    assert_eq!((&back.kernels, back.loss), (&other, Some([0.5, 0.25])));
    assert!(!back.is_of_now, "there is no report on these kernels");
    session.judge(&library, None).unwrap();
    assert_eq!(kernels(&library), other, "who took a fit back keeps the one before until the images double again");
    assert!(session.kinds_back(&library).unwrap());
    let again = known(&library);
    assert_eq!((again.kernels, again.loss), (anew.kernels, anew.loss));
    library.into_inner().unwrap().close().unwrap();
}

#[test]
fn forgetting_and_learned_features_leave_what_the_images_show() {
    let world = toys();
    let (session, library) = opened(&world);
    assert!(session.choose_kinds(&library, of(Subject::Scene, KindChoice::Preset)).unwrap());
    let scene = costs(&library);
    let first = hold(&library).state().images().next().unwrap().id;
    session.forget(&mut hold(&library), &[first]).unwrap();
    let used = kind_use(&hold(&library));
    assert_eq!((used.setting, used.before), (of(Subject::Scene, KindChoice::Preset), None), "what was fitted is forgotten");
    assert_eq!(costs(&library), scene);
    session.set_learned_features(&library, true).unwrap();
    session.compute_learned_features(&library).unwrap();
    assert_eq!(kind_use(&hold(&library)).setting.subject, Subject::Scene);
    assert_eq!(costs(&library)[..3], scene[..]);
    library.into_inner().unwrap().close().unwrap();
}

#[test]
fn a_desk_changes_what_images_show_and_takes_it_back() {
    let world = World::with_images();
    let mut desk = ready(&world);
    let folder = desk.folder().map(Path::to_owned).unwrap();
    let usual = desk.recognising().kinds().clone();
    let report = desk.recognising().report().unwrap().0.clone();
    assert_eq!((usual.setting.subject, &usual.before), (Subject::Object, &None));
    desk.run(Command::ChooseSubject(Subject::Texture));
    until(&mut desk, "it is chosen and judged", |desk| {
        let is_chosen = desk.recognising().kinds().setting.subject == Subject::Texture;
        is_chosen && desk.recognising().report().is_some() && !desk.jobs().is_busy()
    });
    assert!(desk.recognising().kinds().words.contains("wherever they lie"), "{}", desk.recognising().kinds().words);
    desk.run(Command::KindsBack);
    until(&mut desk, "it is back", |desk| desk.recognising().kinds().setting.subject == Subject::Object && !desk.jobs().is_busy());
    let kinds = desk.recognising().kinds();
    assert_eq!((kinds.setting, &kinds.words, kinds.loss), (usual.setting, &usual.words, usual.loss));
    let (back, is_stale) = desk.recognising().report().unwrap();
    assert_eq!((&back.confusion, back.judged.len(), is_stale), (&report.confusion, report.judged.len(), false));
    drop(desk);
    let library = session(&world).open_library(&folder).unwrap();
    assert_eq!(kind_use(&library).setting.subject, Subject::Object);
    library.close().unwrap();
}

/// Progress that does something with a library once, as soon as a stage begins.
fn when(
    stage: &'static str,
    session: &Session,
    library: &Arc<Mutex<Library>>,
    act: impl FnOnce(&Session, &Mutex<Library>) + Send + 'static,
) -> Session {
    let acting = Mutex::new(Some((session.clone(), Arc::clone(library), act)));
    session.with_progress(&Progress::watched(move |now| {
        let taken = if now.stage == stage { acting.lock().unwrap().take() } else { None };
        if let Some((session, library, act)) = taken {
            act(&session, &library);
        }
    }))
}

const FITTING: &str = "Choosing the weights of kinds";
const JUDGING: &str = "Judging each image without its object";

#[test]
fn what_is_chosen_while_kinds_are_fitted_stays_chosen() {
    let world = toys();
    let (session, library) = opened(&world);
    let library = Arc::new(library);
    let texture = of(Subject::Texture, KindChoice::Preset);
    let meanwhile = when(FITTING, &session, &library, move |session, library| assert!(session.choose_kinds(library, texture).unwrap()));
    meanwhile.judge(&library, None).unwrap();
    let now = known(&library);
    assert_eq!((now.setting, now.loss, now.is_of_now), (texture, None, true));
    assert!(session.choose_kinds(&library, KindSetting::default()).unwrap(), "what was fitted is kept");
}

#[test]
fn reports_are_of_the_kinds_that_were_judged() {
    let world = toys();
    let (session, library) = opened(&world);
    let library = Arc::new(library);
    session.judge(&library, None).unwrap();
    let object = known(&library);
    let texture = of(Subject::Texture, KindChoice::Preset);
    assert!(session.choose_kinds(&library, texture).unwrap());
    let to_object = |session: &Session, library: &Mutex<Library>| assert!(session.choose_kinds(library, KindSetting::default()).unwrap());
    let report = when(JUDGING, &session, &library, to_object).judge_uniform(&library).unwrap();
    assert_eq!(known(&library), object);
    assert!(session.choose_kinds(&library, texture).unwrap());
    let judged = known(&library);
    assert_eq!((judged.confusion, judged.is_of_now), (report.confusion, true));

    let harm = when("Leaving out each training image", &session, &library, to_object).harm(&library).unwrap();
    assert_eq!((harm.event, last_harm(&hold(&library))), (None, None), "it is of other kinds than those in use");
    let harm = session.harm(&library).unwrap();
    assert_eq!(last_harm(&hold(&library)), Some(harm));
}

#[test]
fn what_was_made_of_an_image_that_was_forgotten_meanwhile_is_not_kept() {
    let world = toys();
    let (session, library) = opened(&world);
    let library = Arc::new(library);
    let forget = |session: &Session, library: &Mutex<Library>| {
        let mut library = hold(library);
        let first = library.state().images().next().unwrap().id;
        session.forget(&mut library, &[first]).unwrap();
    };
    let refused = when(FITTING, &session, &library, forget).fit_kinds(&library, KindSetting::default()).unwrap_err();
    assert!(refused.to_string().contains("forgotten meanwhile"), "{refused}");
    assert_eq!(kind_use(&hold(&library)).loss, None);
    when(FITTING, &session, &library, forget).judge(&library, None).unwrap();
    let now = known(&library);
    assert_eq!((now.loss, now.is_of_now), (None, true), "the images that are left are judged with the preset's");
    session.judge(&library, None).unwrap();
    assert!(known(&library).loss.is_some(), "and kinds are fitted to them when they are next judged");
    let refused = when(JUDGING, &session, &library, forget).judge(&library, None).unwrap_err();
    assert!(refused.to_string().contains("forgotten meanwhile"), "{refused}");
    assert!(last_report(&hold(&library)).is_none());
}

#[test]
fn learned_weights_and_harm_of_other_kernels_are_not_of_now() {
    let world = toys();
    let (_, library) = opened(&world);
    let library = &*hold(&library);
    let now = library.recogniser().usual_kernels().to_vec();
    let other: Vec<LeafKernel> = now.iter().map(|kernel| LeafKernel { weight: 0.5 * kernel.weight, ..*kernel }).collect();
    for (kernels, is_of_now) in [(json!(now), true), (json!(other), false), (Value::Null, true)] {
        let used = json!({"choice": "Uniform", "right": [0.5, 0.75], "kernels": kernels});
        library.keep_result("weights_use", &used.to_string()).unwrap();
        library.keep_result("harm", &json!({"event": null, "judged": 3, "images": [], "kernels": kernels}).to_string()).unwrap();
        let found = (weight_use(library).right, last_harm(library).map(|harm| harm.judged));
        assert_eq!(found, if is_of_now { (Some([0.5, 0.75]), Some(3)) } else { (None, None) }, "{kernels}");
    }
}

#[test]
fn what_older_programs_kept_of_fitted_places_gets_its_own_name() {
    let world = toys();
    let (session, library) = opened(&world);
    let usual = hold(&library).recogniser().usual_kernels().to_vec();
    let other: Vec<LeafKernel> = usual.iter().map(|kernel| LeafKernel { weight: 0.5 * kernel.weight, cost: 0.25, ..*kernel }).collect();
    let fitted = json!({"choice": "Places", "usual": usual, "kernels": other});
    let old = json!({"choice": "Places", "fitted": fitted, "images": 48, "loss": [0.5, 0.25]}).to_string();
    hold(&library).keep_result("kinds", &old).unwrap();
    library.into_inner().unwrap().close().unwrap();
    let (_, library) = opened(&world);
    session.judge(&library, None).unwrap();
    let places = known(&library);
    assert_eq!((&places.kernels, places.is_of_now), (&other, true));

    // As an older program left it.
    {
        let library = hold(&library);
        let text = library.result("report, fitted places").unwrap().expect("it has that name");
        let mut report: Value = serde_json::from_str(&text).unwrap();
        report.as_object_mut().unwrap().remove("kernels");
        library.keep_result("report, fitted places", "null").unwrap();
        library.keep_result("report, fitted kinds", &report.to_string()).unwrap();
        library.keep_result("weights_use, fitted kinds", &json!({"choice": "Uniform", "right": [0.5, 0.75]}).to_string()).unwrap();
        library.keep_result("kinds", &old).unwrap();
    }
    library.into_inner().unwrap().close().unwrap();
    for opening in ["first", "second"] {
        let (_, library) = opened(&world);
        assert_eq!(known(&library), places, "{opening}");
        let library = library.into_inner().unwrap();
        assert_eq!(weight_use(&library).right, Some([0.5, 0.75]), "{opening}");
        assert_eq!(library.result("report, fitted kinds").unwrap().as_deref(), Some("null"), "{opening}");
        library.close().unwrap();
    }
}

#[test]
fn a_library_with_nothing_to_judge_is_told_what_its_images_show() {
    let world = World::new();
    world.run(["generate", "toys", "--to", "toys", "--instances", "1", "--views", "1", "--side", "48"]).ended(0);
    world.run(["import", "lib.tessera", "toys"]).ended(0);
    let (session, library) = opened(&world);
    let mut library = library.into_inner().unwrap();
    let all: Vec<_> = library.state().images().map(|image| image.id).collect();
    session.forget(&mut library, &all).unwrap();
    library.close().unwrap();
    let arguments = ["train", "lib.tessera", "--learned-features", "off", "--preset", "texture", "--kinds", "fitted"];
    let words = world.run(arguments).ended(0).stdout;
    assert!(words.contains("There are no two classes"), "{words}");
    let (_, library) = opened(&world);
    assert_eq!(kind_use(&hold(&library)).setting, of(Subject::Texture, KindChoice::Fitted));
    library.into_inner().unwrap().close().unwrap();
}
