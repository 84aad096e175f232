import { join } from 'node:path'
import { resolveInside } from '../../io/files.ts'
import { readHead } from '../../io/read-head.ts'
import type { HookComponent, HookHandler } from '../analyze/contract.ts'
import { componentId } from '../component-list.ts'
import { chooseEvents } from './choose-events.ts'
import type { HandlerReport, HookGroupReport, HookTrial, Noticed, SimulatedEvent } from './contract.ts'
import { canRefuse, whyNeverStarted } from './event-effects.ts'
import { type LabPlace, withoutPlaces } from './lab-place.ts'
import { eachAtMost, inPlace, type LabRun } from './lab-run.ts'
import { type TriedEvent, tryHandler, whyNotTestable } from './try-handler.ts'
import { needsTerminal } from './understand-answer.ts'

/** Every handler of one matcher group, one after the other, each with every event it fires for. */
export async function tryGroup(group: HookComponent, labRun: LabRun): Promise<HookGroupReport> {
  const isGuard = saysBlock(group, labRun.pluginPath)
  const attacks =
    canRefuse(group.event) && (labRun.attacks === 'always' || (labRun.attacks === 'when_said' && isGuard))
  const handlers: HandlerReport[] = []
  for (const [index, handler] of group.handlers.entries())
    handlers.push(await tryOne(group, handler, index, attacks, labRun))
  const trials = handlers.flatMap((handler) => handler.trials)
  const report: HookGroupReport = {
    component: componentId('hook', group.name),
    event: group.event,
    matcher: group.matcher,
    handlers,
    attacks: { tried: labels(trials, 'attack').length, refused: refusedIn(trials, 'attack').length },
    benign: passed(trials),
  }
  for (const noticed of ofGroup(report, trials, isGuard)) labRun.log.note({ group, handler: null }, noticed)
  return report
}

async function tryOne(
  group: HookComponent,
  handler: HookHandler,
  index: number,
  attacks: boolean,
  labRun: LabRun,
): Promise<HandlerReport> {
  const { log, lab, names } = labRun
  const not_testable = whyNeverStarted(group.event, handler) ?? whyNotTestable(handler, labRun)
  const report = { index, type: handler.type, action: handler.action, not_testable }
  if (not_testable !== null) return { ...report, trials: [] }
  const chosen = await inPlace(labRun, async (place) => {
    const { firing, silent } = chooseEvents(group, handler, { place, names, attacks })
    return { numbers: [...firing.keys()], silent: silent.map((event) => silentTrial(event, place)) }
  })
  if (chosen.numbers.length === 0)
    log.note({ group, handler: index }, { code: 'HOOK_MATCHER_UNTRIED', detail: '' })
  const trials = await eachAtMost(labRun, chosen.numbers, (number) =>
    inPlace(labRun, async (place): Promise<HookTrial[]> => {
      const event = chooseEvents(group, handler, { place, names, attacks }).firing[number]
      if (event === undefined) return []
      const tried = await tryHandler(handler, event, { ...labRun, place })
      for (const noticed of noticedIn(event, tried, place))
        log.note({ group, handler: index }, noticed, event.label)
      return [trialOf(event, tried, place)]
    }),
  )
  const written = lab.changesInPlugin()
  if (written.length > 0)
    log.note(
      { group, handler: index },
      { code: 'HOOK_WRITES_PLUGIN_ROOT', detail: written.slice(0, 5).join(', ') },
    )
  return { ...report, trials: [...trials.flat(), ...chosen.silent] }
}

/** What only all events together show: a guard refuses something, and lets everyday work pass. */
function ofGroup(
  { event, attacks }: HookGroupReport,
  trials: readonly HookTrial[],
  isGuard: boolean,
): readonly Noticed[] {
  const noticed: Noticed[] = []
  if (isGuard && attacks.tried > 0 && attacks.refused === 0)
    noticed.push({ code: 'HOOK_NEVER_DENIES', detail: `${attacks.tried} events were tried` })
  const refused = guarding.has(event) ? refusedIn(trials, 'benign') : []
  if (refused.length > 0) noticed.push({ code: 'HOOK_DENIES_BENIGN', detail: refused.join(', ') })
  return noticed
}

/** For other events refusing may be the purpose, such as a Stop hook that waits for the tests. */
const guarding: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PermissionRequest',
  'UserPromptSubmit',
  'UserPromptExpansion',
])

function labels(trials: readonly HookTrial[], intent: HookTrial['intent']): readonly string[] {
  const tried = trials.filter((trial) => trial.fires && trial.intent === intent)
  return [...new Set(tried.map(({ label }) => label))].toSorted()
}

function refusedIn(trials: readonly HookTrial[], intent: HookTrial['intent']): readonly string[] {
  return labels(
    trials.filter(({ decision }) => ['deny', 'block', 'ask'].includes(decision)),
    intent,
  )
}

function passed(trials: readonly HookTrial[]): HookGroupReport['benign'] {
  const tried = labels(trials, 'benign').length
  return { tried, passed: tried - refusedIn(trials, 'benign').length }
}

/** Of what a hook printed so much is kept in the report. */
const keptCharacters = 4_000
/** What all hooks of a plugin have together when a session ends. */
const sessionEndMs = 1_500

/** What one event came to, as a row of the report. */
function trialOf(event: SimulatedEvent, tried: TriedEvent, place: LabPlace): HookTrial {
  const { run, answer } = tried
  const clean = withoutPlaces(place)
  return {
    label: event.label,
    intent: event.intent,
    fires: true,
    decision: answer.decision,
    text: answer.text === null ? null : kept(clean(answer.text)),
    ...(answer.change !== undefined && { change: cleaned(answer.change, clean) }),
    exit_code: run.ending.kind === 'exited' ? run.ending.exitCode : null,
    ending: run.ending.kind,
    duration_ms: Math.round(run.durationMs),
    stdout: kept(clean(run.stdout)),
    stderr: kept(clean(run.stderr)),
    findings: [...new Set(noticedIn(event, tried, place).map(({ code }) => code))].toSorted(),
    payload: cleaned(event.payload, clean) as HookTrial['payload'],
  }
}

/** An event for which the handler is not started. */
function silentTrial(event: SimulatedEvent, place: LabPlace): HookTrial {
  return {
    label: event.label,
    intent: event.intent,
    fires: false,
    decision: 'none',
    text: null,
    exit_code: null,
    ending: 'not_run',
    duration_ms: 0,
    stdout: '',
    stderr: '',
    findings: [],
    payload: cleaned(event.payload, withoutPlaces(place)) as HookTrial['payload'],
  }
}

/** All findings about a run of a handler, in texts that are the same on every machine. */
function noticedIn(
  { event, payload }: SimulatedEvent,
  { run, answer }: TriedEvent,
  place: LabPlace,
): readonly Noticed[] {
  const clean = withoutPlaces(place)
  const noticed: Noticed[] = [...answer.noticed]
  if (run.leftBehind > 0)
    noticed.push({ code: 'HOOK_LEAVES_PROCESSES', detail: `${run.leftBehind} had to be ended` })
  // A shell that cannot open the terminal may well exit with 2, and so block by accident.
  if (needsTerminal.test(run.stderr) && noticed.every(({ code }) => code !== 'HOOK_NEEDS_TTY'))
    noticed.push({ code: 'HOOK_NEEDS_TTY', detail: '' })
  if (payload.stop_hook_active === true && answer.decision === 'block')
    noticed.push({ code: 'HOOK_STOP_LOOPS', detail: '' })
  if (event === 'SessionEnd' && run.ending.kind === 'exited' && run.durationMs > sessionEndMs)
    noticed.push({ code: 'HOOK_SESSION_END_SLOW', detail: '' })
  return noticed.map(({ code, detail }) => ({ code, detail: clean(detail) }))
}

function cleaned(value: unknown, clean: (text: string) => string): unknown {
  return JSON.parse(JSON.stringify(value), (_, item: unknown) =>
    typeof item === 'string' ? clean(item) : item,
  )
}

function kept(text: string): string {
  return text.length > keptCharacters
    ? `${text.slice(0, keptCharacters)}\n[... ${text.length - keptCharacters} more characters]`
    : text
}

const headBytes = 64 * 1024
const refusing = /\b(?:den(?:y|ies|ied)|block|reject|forbid|prevent)|exit(?:\s+|\()\s*2\b/i

/** Whether a hook seems meant to refuse something, by the text of its command or of the script it starts. */
function saysBlock({ expected_behavior, handlers }: HookComponent, pluginPath: string): boolean {
  if (expected_behavior === 'block') return true
  return handlers.some(
    ({ action }) => refusing.test(action) || scriptsIn(action).some((path) => fileRefuses(pluginPath, path)),
  )
}

function scriptsIn(action: string): readonly string[] {
  return [...action.matchAll(/\$\{?CLAUDE_PLUGIN_ROOT\}?\/([^\s"'`;|&<>]+)/g)].flatMap(
    ([, path]) => path ?? [],
  )
}

function fileRefuses(pluginPath: string, path: string): boolean {
  if (resolveInside(pluginPath, path).kind !== 'inside') return false
  const head = readHead(join(pluginPath, path), headBytes)
  return head.kind === 'text' && refusing.test(head.text)
}
