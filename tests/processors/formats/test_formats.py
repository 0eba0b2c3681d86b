"""Known formats applied to lines: what is read, what is checked, and when a format is asked about."""

import msgspec
import pytest

from processors.formats import KnownFormats
from processors.state import JobState
from schedmate_records import ColumnMeaning, ColumnRole, KnownFormat, QuestionKind

from .expecting import Job, metric_of, questions_of, stated

STEP, LOSS = ColumnMeaning(0, ColumnRole.STEP), ColumnMeaning(1, ColumnRole.LOSS)
MS = ColumnMeaning(2, ColumnRole.STEP_TIME, "ms")
HOME_MADE = ("zug {} obj {} dauer {}", "zug 10 obj 2.5 dauer 100.0", [STEP, LOSS, MS])


def home_made(count: int = 40, every: int = 10, ms: float = 100.0) -> list[str]:
    return [f"zug {every * at} obj {3 / at:.4f} dauer {ms}" for at in range(1, count + 1)]


def test_known_format_gives_step_loss_and_step_time() -> None:
    metric = metric_of(Job(stated(HOME_MADE)).print_lines(home_made()))
    assert (metric.step, metric.loss, metric.step_time_s) == (400, 0.075, 0.1)


def test_format_is_not_applied_to_other_logs() -> None:
    lines = [f"step {at} loss {3 / at:.4f}" for at in range(1, 40)]
    assert metric_of(Job(stated(HOME_MADE)).print_lines(lines)) == metric_of(Job().print_lines(lines))


def test_time_that_contradicts_the_clock_is_dropped() -> None:
    metric = metric_of(Job(stated(HOME_MADE)).print_lines(home_made(ms=900.0)))
    assert metric.step_time_s != pytest.approx(0.9)


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        ([ColumnMeaning(1, ColumnRole.STEP), ColumnMeaning(0, ColumnRole.LOSS)], "step"),
        ([ColumnMeaning(1, ColumnRole.STEP), ColumnMeaning(0, ColumnRole.LOSS)], "loss"),
        ([ColumnMeaning(0, ColumnRole.LOSS), ColumnMeaning(2, ColumnRole.STEP_TOTAL)], "loss"),
        ([STEP, ColumnMeaning(1, ColumnRole.EPOCH_TOTAL), ColumnMeaning(2, ColumnRole.LOSS)], "loss"),
    ],
)
def test_columns_that_contradict_the_lines_change_nothing(columns: list[ColumnMeaning], field: str) -> None:
    lines = [f"zug {10 * at} obj {3 / at:.4f} dauer {at}" for at in range(1, 41)]
    text, sample, _ = HOME_MADE
    plain = metric_of(Job().print_lines(lines))
    metric = metric_of(Job(stated((text, sample, columns))).print_lines(lines))
    assert getattr(metric, field) == getattr(plain, field)


def test_printed_unit_is_kept_though_a_clock_agrees_with_another() -> None:
    lines = [f"zug {10 * at} obj {3 / at:.4f} dauer 100.0s" for at in range(1, 41)]
    text, sample = "zug {} obj {} dauer {}s", lines[0]
    metric = metric_of(Job(stated((text, sample, [STEP, LOSS, MS]))).print_lines(lines))
    assert metric.step_time_s is None or metric.step_time_s == pytest.approx(0.1)
    assert metric.method != "model", "100 s are not 100 ms"


def test_counter_of_a_single_line_is_no_step_beside_many_reports() -> None:
    lines = [f"{{'loss': {3 / at:.4f}, 'epoch': {at / 10}}}" for at in range(1, 20)]
    bar = "examples: 100%|####| 1/1 [00:00<00:00,  7.91example/s]"
    report = (
        "{{'loss': {}, 'epoch': {}}}",
        lines[0],
        [ColumnMeaning(0, ColumnRole.LOSS), ColumnMeaning(1, ColumnRole.EPOCH)],
    )
    known = stated(report, ("examples: {}%|####| {}/{} [{}<{}, {}example/s]", bar, [ColumnMeaning(1, ColumnRole.STEP)]))
    plain = metric_of(Job().print_lines([bar, *lines]))
    assert metric_of(Job(known).print_lines([bar, *lines])).step == plain.step


def test_loss_that_the_rules_name_is_not_replaced_by_an_unnamed_column() -> None:
    lines = [f"step {at} loss {3 / at:.4f} x {0.01 * at:.4f}" for at in range(1, 40)]
    columns = [STEP, ColumnMeaning(2, ColumnRole.LOSS)]
    metric = metric_of(Job(stated(("step {} loss {} x {}", lines[0], columns))).print_lines(lines))
    assert metric.loss == pytest.approx(3 / 39, abs=1e-4)


def test_current_loss_is_preferred_to_the_average_where_the_format_names_it() -> None:
    lines = [f"iter: {20 * at}  loss: {3 / at:.4f} ({4 / at:.4f})" for at in range(1, 40)]
    columns = [STEP, LOSS]
    metric = metric_of(Job(stated(("iter: {} loss: {} ({})", lines[0], columns))).print_lines(lines))
    assert metric.loss == pytest.approx(3 / 39, abs=1e-4)


def test_format_without_a_training_takes_a_lone_number_away() -> None:
    line = "Throughput: 12.5 images/sec"
    plain = metric_of(Job().print_lines([line]))
    assert plain.throughput == 12.5
    known = stated(("Throughput: {} images/sec", line, []), training=False)
    metric = metric_of(Job(known).print_lines([line]))
    assert (metric.throughput, metric.step_time_s, metric.step, metric.loss) == (None, None, None, None)


def test_model_that_denies_a_training_is_overruled_by_its_reports() -> None:
    lines = [f"step {at} loss {3 / at:.4f}" for at in range(1, 40)]
    model = stated(("step {} loss {}", lines[0], []), training=False)
    assert metric_of(Job(model).print_lines(lines)).step == 39
    person = stated(("step {} loss {}", lines[0], []), training=False, person=True)
    assert metric_of(Job(person).print_lines(lines)).step is None


def test_agreement_of_rules_and_format_raises_confidence() -> None:
    lines = [f"step {at} loss {3 / at:.4f} step_time {1.0:.2f}" for at in range(1, 40)]
    columns = [STEP, LOSS, ColumnMeaning(2, ColumnRole.STEP_TIME, "s")]
    plain = metric_of(Job().print_lines(lines))
    metric = metric_of(Job(stated(("step {} loss {} step_time {}", lines[0], columns))).print_lines(lines))
    assert metric.step_time_s == plain.step_time_s == 1.0
    assert metric.confidence > plain.confidence


def test_steps_that_a_time_covers_are_divided_out() -> None:
    text, sample, _ = HOME_MADE
    columns = [STEP, LOSS, ColumnMeaning(2, ColumnRole.STEP_TIME, "ms", 10)]
    metric = metric_of(Job(stated((text, sample, columns))).print_lines(home_made(ms=1000.0)))
    assert metric.step_time_s == pytest.approx(0.1)
    since_last = [STEP, LOSS, ColumnMeaning(2, ColumnRole.REPORT_TIME, "ms")]
    metric = metric_of(Job(stated((text, sample, since_last))).print_lines(home_made(ms=1000.0)))
    assert metric.step_time_s == pytest.approx(0.1)


def test_paths_of_a_template_may_differ() -> None:
    lines = [f"[/home/b/run7/x.py] zug {10 * at} obj {3 / at:.4f}" for at in range(1, 40)]
    known = stated(("[/…] zug {} obj {}", "[/home/a/x.py] zug 10 obj 2.5", [STEP, LOSS]))
    assert metric_of(Job(known).print_lines(lines)).step == 390


def test_unknown_format_is_asked_about_once_frequent() -> None:
    job = Job(ask=True)
    assert questions_of(job.print_lines(home_made(10))) == []
    lines = [f"step {at} loss {3 / at:.4f}" for at in range(1, 60)]
    (question,) = questions_of(Job(ask=True).print_lines(lines))
    assert question.kind is QuestionKind.FORMAT
    assert question.format is not None
    assert (question.about, question.key) == (question.format.fingerprint, question.format.fingerprint)
    (template,) = question.format.templates
    assert template.text == "step {} loss {}"
    assert template.lines[0] == lines[0]
    assert template.lines[-1] == lines[-1]
    assert question.format.head[0] == lines[0]
    assert "step 59" in question.format.reading


def test_short_log_of_an_unknown_format_is_asked_about_at_its_end() -> None:
    job = Job(ask=True)
    job.print_lines(home_made(10))
    (question,) = questions_of(job.end())
    assert question.format is not None
    assert question.format.templates[0].text == HOME_MADE[0]


def test_known_format_is_not_asked_about() -> None:
    job = Job(stated(HOME_MADE), ask=True)
    assert questions_of([*job.print_lines(home_made(60)), *job.end()]) == []


def test_fingerprint_does_not_depend_on_rare_lines_or_the_length_of_a_log() -> None:
    def about(lines: list[str]) -> str:
        job = Job(ask=True)
        return questions_of([*job.print_lines(lines), *job.end()])[0].about

    lines = [f"step {at} loss {3 / at:.4f}" for at in range(1, 60)]
    assert about(lines) == about([*lines[:30], "saved 7 files", "epoch 3 begins"]) == about([*lines, *lines])


def test_survey_keeps_a_bounded_number_of_templates() -> None:
    job = Job(ask=True)
    words = [f"w{chr(97 + at % 26)}{chr(97 + at // 26 % 26)}{chr(97 + at // 676)}" for at in range(2000)]
    for at in range(0, 2000, 100):
        job.print_lines([f"{word} {number} apples" for number, word in enumerate(words[at : at + 100])])
    survey = job.state.stream_of(0, 0, "stdout").source_of("p").track.format.survey
    assert len(survey.templates) <= 48


def test_newer_record_replaces_an_older_one_and_a_person_a_model() -> None:
    known = KnownFormats()
    model, person = stated(HOME_MADE, time=1.0), stated(HOME_MADE, time=2.0, person=True)
    later = stated(HOME_MADE, time=3.0)
    for each in (model, person, later):
        known.add(each)
    assert [each.person for each in known.records()] == [True]
    withdrawn = KnownFormat(id="x", fingerprint=HOME_MADE[0], time=4.0, person=True, forgotten=True)
    known.add(withdrawn)
    assert known.records() == []
    assert known.match({HOME_MADE[0]: 9}) is None
    known.add(stated(HOME_MADE, time=5.0))
    assert known.match({HOME_MADE[0]: 9}) is not None


def test_state_of_a_format_survives_being_stored() -> None:
    job = Job(stated(HOME_MADE), ask=True)
    job.print_lines(home_made(20))
    job.state = msgspec.msgpack.decode(msgspec.msgpack.encode(job.state), type=JobState)
    metric = metric_of(job.print_lines([f"zug {10 * at} obj {3 / at:.4f} dauer 100.0" for at in range(21, 41)]))
    assert (metric.step, metric.step_time_s) == (400, 0.1)
