//! `fathom sim`: the same jobs on modelled volumes, in virtual time; and `fathom run --on`, in real time.

use std::path::Path;

use job::{Around, Diagnostic, Dialect, Job, Plan};
use meter::Widths;
use record::{Note, Run};
use report::GridPoint;
use store::Kind;
use volume::Burst;

use crate::args::{RunOptions, SimOptions};
use crate::exit::Exit;
use crate::grid::{self, Axis, on_all_processors};
use crate::keep::{self, Keepsake};
use crate::measure::{Request, Show};
use crate::members::{self, Member};
use crate::modelled::{self, Fitting, Pace, Volumes};
use crate::overseer::Moment;
use crate::seeds::Seeds;
use crate::signals::Signals;
use crate::source::Outside;
use crate::terminal::tell;
use crate::worker::unix_ms;
use crate::{diagnostics, logs, outputs, preview, run, trial};

/// Simulates.
pub(crate) fn command(options: &SimOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    if !options.sweep.is_empty() {
        return grid(options, jobs, words);
    }
    if options.run.live {
        return Err(unsimulated(UNSEEN));
    }
    run::carry_out(&options.run, jobs, words, Pace::Virtual)
}

const UNSEEN: &str = "--live: virtual time is over before anybody has seen it: use `fathom run --on VOLUME --live`, which takes its time";

/// A simulation that is ready to begin.
pub(crate) struct Scene {
    pub(crate) plan: Plan,
    members: Vec<Member>,
    pub(crate) fitting: Fitting,
}

impl Scene {
    pub(crate) fn set(mut plan: Plan, seeds: Seeds) -> Result<Self, Vec<Diagnostic>> {
        let volumes = Volumes::resolve(&mut plan)?;
        let (members, unfit) = members::enlist(&plan, Dialect::Strict, seeds, &volumes);
        if !unfit.is_empty() {
            return Err(unfit.iter().map(|unfit| unfit.diagnostic(&plan)).collect());
        }
        let fitting = Fitting::new(&plan, &members, &volumes)?;
        Ok(Self { plan, members, fitting })
    }

    /// Empties every bucket of credits, so that what lasts is simulated.
    pub(crate) fn drain(&mut self) {
        self.fill(|_| Some(0));
    }

    /// Fills the bucket of each limit as far as is said of its name, in billionths; where nothing is, as it was.
    pub(crate) fn fill(&mut self, share: impl Fn(&str) -> Option<u64>) {
        let specs = self.fitting.attachments.iter_mut().map(|attachment| &mut attachment.spec);
        for limit in specs.flat_map(|spec| &mut spec.limits) {
            if let (Burst::Credits { most, at_start }, Some(share)) = (&mut limit.burst, share(&limit.name)) {
                *at_start = (u128::from(*most) * u128::from(share) / 1_000_000_000) as u64;
            }
        }
    }

    /// Simulates without anybody watching.
    pub(crate) fn simulate(&self, request: &Request<'_>, signals: &Signals) -> Run {
        self.simulate_before(request, signals, &mut Unseen)
    }

    /// Simulates while somebody watches.
    pub(crate) fn simulate_before(&self, request: &Request<'_>, signals: &Signals, show: &mut dyn Show) -> Run {
        modelled::measure(request, &self.fitting, Pace::Virtual, signals, show).run
    }

    /// Which volumes it would be on.
    pub(crate) fn told(&self) -> String {
        preview::simulation(&self.plan, &self.members, &self.fitting)
    }

    pub(crate) fn request<'a>(&'a self, seeds: Seeds, words: &[String]) -> Request<'a> {
        Request {
            plan: &self.plan,
            dialect: Dialect::Strict,
            members: &self.members,
            layouts: &[],
            seeds,
            command_line: run::command_line(words),
            status_every: None,
            intervals: Widths::suited(),
        }
    }
}

/// Simulates every combination of settings.
fn grid(options: &SimOptions, jobs: &[String], words: &[String]) -> Result<Exit, Exit> {
    let outside = Outside::default();
    let points = points(options, jobs, &outside)?;
    let (seeds, options) = (Seeds::new(options.run.conduct.seed), &options.run);
    if options.of_jobs.explain || options.conduct.dry_run {
        return Ok(outputs::say(&points.iter().map(|point| told(point, options)).collect::<String>()));
    }
    let mut files = outputs::open_for_grid(options).map_err(|problem| unsimulated(&problem))?;
    let signals = Signals::listen()?.with_grace(options.conduct.grace);
    let began_unix_ms = unix_ms();
    let simulated = on_all_processors(&points, |(settings, scene)| {
        // Who wants it to end wants no rows of nothing.
        if signals.end().is_some() {
            return None;
        }
        let request = scene.request(seeds, words);
        let run = scene.simulate(&request, &signals);
        let verdicts = analyse::analyse(&run);
        Some(GridPoint { settings: settings.clone(), run, verdicts })
    });
    let simulated: Vec<GridPoint> = simulated.into_iter().flatten().collect();
    signals.conclude();
    if signals.end().is_some() {
        let (begun, all) = (simulated.len(), points.len());
        tell(&format!("fathom: interrupted: {begun} of {all} points were begun, and the last of them are cut short\n"));
    }
    let keeping = options.conduct.records().then(|| {
        let name = trial::name_of(jobs, &points[0].1.plan);
        Keepsake { job: outside.written(jobs), ..of_grid(&name, &simulated, words, began_unix_ms) }.keep()
    });
    let text = outputs::grid_document(&simulated, options.format);
    let delivered = outputs::deliver_and_say(&mut files, &text, |file| file.write_grid(&simulated));
    keep::tell(keeping);
    Ok(signals.end().map_or(delivered, Exit::Signal))
}

/// More results than this are kept as a table alone, for a record has a histogram of each.
const RECORDS_MOST: usize = 2000;

/// What is kept of a grid.
fn of_grid(name: &str, points: &[GridPoint], words: &[String], began_unix_ms: u64) -> Keepsake {
    let recorded = points.iter().take(RECORDS_MOST);
    let parts = recorded.map(|point| (words_of(&point.settings), point.run.clone())).collect::<Vec<_>>();
    let seed = points.first().and_then(|point| point.run.seed);
    let mut run = keep::of_parts(parts, words, seed);
    if points.len() > RECORDS_MOST {
        let text = format!("the first {RECORDS_MOST} of {} points are recorded; grid.json has all", points.len());
        run.notes.push(Note { job: None, text });
    }
    Keepsake {
        events: keep::events_of(&run, began_unix_ms),
        attached: vec![(keep::GRID, report::grid_json(points)), (keep::TEXT, report::grid_text(points))],
        ..Keepsake::of(Kind::Sweep, name, run, began_unix_ms)
    }
}

/// Tells why no point was simulated.
fn unsimulated(problem: &str) -> Exit {
    Exit::usage(&format!("{problem}\nfathom: nothing was simulated"))
}

/// One point of a sweep that is only talked about.
fn told((settings, scene): &Prepared, options: &RunOptions) -> String {
    let told = if options.of_jobs.explain { preview::jobs(&scene.plan) } else { scene.told() };
    format!("with {}:\n{told}\n", words_of(settings))
}

fn words_of(settings: &[(String, String)]) -> String {
    settings.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

/// The settings of one point of a sweep, and its simulation.
type Prepared = (Vec<(String, String)>, Scene);

/// Every point of a sweep, ready; or what is wrong with the first that is not, on standard error.
fn points(options: &SimOptions, jobs: &[String], outside: &Outside) -> Result<Vec<Prepared>, Exit> {
    let axes: Result<Vec<Axis>, String> = options.sweep.iter().map(|text| Axis::parse("--sweep", text)).collect();
    let axes =
        axes.and_then(|axes| grid::check("--sweep", &axes).map(|()| axes)).map_err(|problem| unsimulated(&problem))?;
    let prepare = |settings: Vec<(String, String)>| {
        let scene = point(&options.run, (jobs, outside), &settings).map_err(|problems| {
            diagnostics::print(&problems);
            Exit::usage(&format!("with {}", words_of(&settings)))
        })?;
        Ok((settings, scene))
    };
    grid::combinations(&axes).into_iter().map(prepare).collect()
}

/// The simulation of one point.
fn point(
    options: &RunOptions,
    (jobs, outside): (&[String], &Outside),
    settings: &[(String, String)],
) -> Result<Scene, Vec<Diagnostic>> {
    let words = JobWords { jobs, sections: &options.of_jobs.section, around: around(options.on.as_deref()), outside };
    Scene::set(words.with(settings)?, Seeds::new(options.conduct.seed))
}

/// The words that jobs are made of, once and again.
pub(crate) struct JobWords<'a> {
    pub(crate) jobs: &'a [String],
    pub(crate) sections: &'a [String],
    pub(crate) around: Around,
    pub(crate) outside: &'a Outside,
}

impl JobWords<'_> {
    /// The jobs with some settings set anew: options of theirs, or keys of their volumes.
    pub(crate) fn with(&self, settings: &[(String, String)]) -> Result<Plan, Vec<Diagnostic>> {
        let of_volume = |key: &str| key.strip_prefix(ON).map(str::to_owned);
        let is_option = |key: &str| !job::table::find_all(key).is_empty();
        let mut around = self.around.clone();
        around.after.extend(settings.iter().filter(|(key, _)| is_option(key)).cloned());
        let parsed = job::parse_job_arguments(self.jobs, self.sections, &around, Dialect::Strict, self.outside);
        let (mut plan, _) = parsed.into_result()?;
        for (key, value) in settings.iter().filter(|(key, _)| !is_option(key)) {
            let key = of_volume(key).unwrap_or_else(|| key.clone());
            for job in &mut plan.jobs {
                let Some(words) = &mut job.engine.volume else { continue };
                *words = modelled::with_key(words, &key, value);
                job.echo.retain(|(name, _)| name != "volume");
                job.echo.push(("volume".to_owned(), words.clone()));
            }
        }
        match plan.jobs.iter().find(|job| logs::are_wanted(&job.stats)) {
            Some(job) => Err(vec![unloggable(job)]),
            None => Ok(plan),
        }
    }
}

fn unloggable(job: &Job) -> Diagnostic {
    let message =
        format!("job `{}` writes log files, and the points of a sweep would write over one another's", job.name);
    let options = ["write_lat_log", "write_iops_log", "write_bw_log"];
    let given = job.origin.options.iter().find(|(name, _)| options.contains(name));
    Diagnostic::error("logs-of-sweep", message)
        .at(given.map(|(_, place)| place.clone()))
        .remedy("leave out `write_*_log`, or simulate one point")
}

/// What stands before the key of a volume where a job option has the same name.
const ON: &str = "on.";

/// Nobody watches one point of many.
pub(crate) struct Unseen;

impl Show for Unseen {
    fn layout(&mut self, _: &Path, _: u64, _: u64) {}

    fn progress(&mut self, _: &Moment) {}

    fn status(&mut self, _: &Run) {}
}

/// What `--on` says of every job, as far as it says nothing else itself.
pub(crate) fn around(volume: Option<&str>) -> Around {
    let options =
        |volume: &str| vec![("ioengine".to_owned(), "model".to_owned()), ("volume".to_owned(), volume.to_owned())];
    Around { before: volume.map(options).unwrap_or_default(), after: Vec::new() }
}
