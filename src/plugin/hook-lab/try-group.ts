import { join } from 'node:path'
import { resolveInside } from '../../io/files.ts'
import { readHead } from '../../io/read-head.ts'
import type { HookComponent, HookHandler } from '../analyze/contract.ts'
import { pluginReferences } from '../analyze/files/plugin-references.ts'
import { componentId } from '../component-list.ts'
import { chooseEvents } from './choose-events.ts'
import type { SimulatedEvent } from './contract.ts'
import { canRefuse, whyNeverStarted } from './event-effects.ts'
import type { LabFinding } from './finding-log.ts'
import { type LabPlace, mapTexts, withoutPlaces } from './lab-place.ts'
import { eachAtMost, inPlace, type LabRun } from './lab-run.ts'
import { type TriedEvent, tryHandler, whyNotTestable } from './try-handler.ts'
import { needsTerminal } from './understand-answer.ts'

/** One matcher group, named as in the analysis. */
export type HookGroupReport = Awaited<ReturnType<typeof tryGroup>>

/** Runs every handler of one matcher group in turn, each with every event it fires for. */
export async function tryGroup(group: HookComponent, labRun: LabRun) {
  const mentions = saysBlock(group, labRun.pluginPath, refusing)
  const isGuard = saysBlock(group, labRun.pluginPath, refusingCode)
  const attacks =
    canRefuse(group.event) && (labRun.attacks === 'always' || (labRun.attacks === 'when_said' && mentions))
  const handlers: Awaited<ReturnType<typeof tryOne>>[] = []
  for (const [index, handler] of group.handlers.entries())
    handlers.push(await tryOne(group, handler, index, attacks, { ...labRun, isGuard }))
  const trials = handlers.flatMap((handler) => handler.trials)
  const refused = { attack: refusedIn(trials, 'attack'), benign: refusedIn(trials, 'benign') }
  const tried = labels(trials, 'benign').length
  // A guard must accept everyday work.
  if (guarding.has(group.event) && refused.benign.length > 0)
    labRun.log.note(
      { group, handler: null },
      { code: 'HOOK_DENIES_BENIGN', detail: refused.benign.join(', ') },
    )
  return {
    component: componentId('hook', group.name),
    event: group.event,
    matcher: group.matcher,
    handlers,
    /** Refused attacks, of those tried. */
    attacks: { tried: labels(trials, 'attack').length, refused: refused.attack.length },
    /** Accepted everyday events, of those tried. */
    benign: { tried, passed: tried - refused.benign.length },
  }
}

async function tryOne(
  group: HookComponent,
  handler: HookHandler,
  index: number,
  attacks: boolean,
  labRun: LabRun,
) {
  const { log, lab, names } = labRun
  /** Why it could not be tried offline; null when it was. */
  const not_testable = whyNeverStarted(group.event, handler) ?? whyNotTestable(handler)
  const report = { index, type: handler.type, action: handler.action, not_testable }
  if (not_testable !== null) return { ...report, trials: [] }
  const chosen = await inPlace(labRun, group.event, async (place) => {
    const { firing, silent } = chooseEvents(group, handler, { place, names, attacks })
    return { numbers: [...firing.keys()], silent: silent.map((event) => trialOf(event, null, place)) }
  })
  if (chosen.numbers.length === 0)
    log.note({ group, handler: index }, { code: 'HOOK_MATCHER_UNTRIED', detail: '' })
  const trials = await eachAtMost(labRun, chosen.numbers, (number) =>
    inPlace(labRun, group.event, async (place): Promise<HookTrial[]> => {
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

/** To ask the user is enough against an attack, and does not refuse everyday work. */
function refusedIn(trials: readonly HookTrial[], intent: HookTrial['intent']): readonly string[] {
  const refusals = ['deny', 'block', ...(intent === 'attack' ? ['ask'] : [])]
  return labels(
    trials.filter(({ decision }) => refusals.includes(decision)),
    intent,
  )
}

/** Maximum length of a hook's output in the report. */
const keptCharacters = 4_000
/** Time limit that all hooks of a plugin share when a session ends. */
const sessionEndMs = 1_500

/**
 * One event sent to one handler; a row of the report. Paths of the lab are written as `<workspace>`, `<home>`, `<plugin>`,
 * `<tmp>`.
 */
export type HookTrial = ReturnType<typeof trialOf>

/** `tried`: null when the matcher or the handler's `if` excludes this event, and nothing was started. */
function trialOf(event: SimulatedEvent, tried: TriedEvent | null, place: LabPlace) {
  const { run, answer } = tried ?? { run: null, answer: null }
  const clean = withoutPlaces(place)
  const found = tried === null ? [] : noticedIn(event, tried, place).map(({ code }) => code)
  return {
    label: event.label,
    intent: event.intent,
    fires: tried !== null,
    decision: answer?.decision ?? ('none' as const),
    text: answer?.text == null ? null : kept(clean(answer.text)),
    ...(answer?.change !== undefined && { change: mapTexts(answer.change, clean) }),
    exit_code: run?.ending.kind === 'exited' ? run.ending.exitCode : null,
    ending: run?.ending.kind ?? ('not_run' as const),
    duration_ms: Math.round(run?.durationMs ?? 0),
    stdout: kept(clean(run?.stdout ?? '')),
    stderr: kept(clean(run?.stderr ?? '')),
    findings: [...new Set(found)].toSorted(),
    payload: mapTexts(event.payload, clean) as SimulatedEvent['payload'],
  }
}

/** All findings about a run of a handler. Their texts are the same on every machine. */
function noticedIn(
  { event, payload }: SimulatedEvent,
  { run, answer, isAsync }: TriedEvent,
  place: LabPlace,
): readonly LabFinding[] {
  const clean = withoutPlaces(place)
  const noticed: LabFinding[] = [...answer.noticed]
  if (run.leftBehind > 0 && !isAsync)
    noticed.push({ code: 'HOOK_LEAVES_PROCESSES', detail: `${run.leftBehind} had to be killed` })
  // A shell that cannot open the terminal may exit with 2 and so block by accident.
  if (needsTerminal.test(run.stderr) && noticed.every(({ code }) => code !== 'HOOK_NEEDS_TTY'))
    noticed.push({ code: 'HOOK_NEEDS_TTY', detail: '' })
  if (payload.stop_hook_active === true && answer.decision === 'block')
    noticed.push({ code: 'HOOK_STOP_LOOPS', detail: '' })
  if (event === 'SessionEnd' && run.ending.kind === 'exited' && run.durationMs > sessionEndMs)
    noticed.push({ code: 'HOOK_SESSION_END_SLOW', detail: '' })
  return noticed.map(({ code, detail }) => ({ code, detail: clean(detail) }))
}

function kept(text: string): string {
  return text.length > keptCharacters
    ? `${text.slice(0, keptCharacters)}\n[... ${text.length - keptCharacters} more characters]`
    : text
}

const headBytes = 64 * 1024
const refusing = /\b(?:den(?:y|ies|ied)|block|reject|forbid|prevent)|exit(?:\s+|\()\s*2\b/i
/** Not only a word: code that refuses. */
const refusingCode =
  /\bexit(?:\s+|\()\s*2\b|exitCode\s*=\s*2\b|permissionDecision|["']?decision["']?\s*[:=]\s*["'](?:block|deny)/

/** Whether a hook seems meant to refuse something, by the text of its command or of the script it starts. */
function saysBlock(
  { expected_behavior, handlers }: HookComponent,
  pluginPath: string,
  pattern: RegExp,
): boolean {
  if (expected_behavior === 'block') return true
  return handlers.some(
    ({ action }) =>
      pattern.test(action) ||
      pluginReferences(action).some(({ path }) => fileFits(pluginPath, path, pattern)),
  )
}

function fileFits(pluginPath: string, path: string, pattern: RegExp): boolean {
  if (resolveInside(pluginPath, path).kind !== 'inside') return false
  const head = readHead(join(pluginPath, path), headBytes)
  return head.kind === 'text' && pattern.test(head.text)
}
