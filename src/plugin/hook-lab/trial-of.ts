import type { HookTrial, Noticed, SimulatedEvent } from './contract.ts'
import { type LabPlace, withoutPlaces } from './lab-place.ts'
import type { TriedEvent } from './try-handler.ts'
import { needsTerminal } from './why-failed.ts'

/** Of what a hook printed so much is kept in the report. */
const keptCharacters = 4_000
/** What all hooks of a plugin have together when a session ends. */
const sessionEndMs = 1_500

/** What one event came to, as a row of the report. */
export function trialOf(event: SimulatedEvent, tried: TriedEvent, place: LabPlace): HookTrial {
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
export function silentTrial(event: SimulatedEvent, place: LabPlace): HookTrial {
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

/** Everything that is wrong with what a handler did, in words that are the same on every machine. */
export function noticedIn(
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
