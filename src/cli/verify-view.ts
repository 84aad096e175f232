import { createColors } from 'picocolors'
import { formatDuration, formatElapsed } from '../core/duration.ts'
import { monotonicMs } from '../io/clock.ts'
import { type Display, plainDisplay, terminalContext, type View } from '../report/console/display.ts'
import { displayWidth, shortenEnd } from '../report/display-width.ts'
import { plainLine, plainText } from '../report/plain-text.ts'
import type { SandboxReport } from '../sandboxes/contract.ts'
import type { VerificationStep, VerifierResponse, VerifyEvent } from '../verifier/contract.ts'
import type { RecordedEvidence } from '../verifier/guard-evidence.ts'
import { logTail } from '../verifier/log-tail.ts'
import { formatSize } from '../verifier/parse-size.ts'
import type { CliContext } from './context.ts'

export interface ViewOptions {
  readonly steps: readonly VerificationStep[]
  readonly verbose: boolean
  readonly json: boolean
  /** What earlier runs warned of already. */
  readonly said?: Set<string>
}

/** Lines of the failed step that are shown; the log has all of them. */
const tailLinesShown = 60

/** The output of a verification. With `json` only warnings, on standard error. */
export function verifyView(context: CliContext, { steps, verbose, json, said = new Set() }: ViewOptions) {
  const { stdout, stderr, signal } = context
  const paint = createColors(stdout.color)
  const note = createColors(stderr.color)
  const display = stepDisplay(context)
  let tail = logTail(tailLinesShown)
  let isOpen = false
  let atLineStart = true
  const quoted = (text: string): string => {
    const marked = (atLineStart ? outputMark : '') + plainText(text).replaceAll(/\n(?!$)/g, `\n${outputMark}`)
    atLineStart = text.endsWith('\n')
    return marked
  }
  const say = (line: string): void => {
    if (!json) display.line(line)
  }
  const print = (text: string): void => display.aside(() => stderr.write(`${text}\n`))
  const warn = (message: string): void => print(`${note.yellow('warning:')} ${plainLine(message)}`)
  const title = (index: number, { name, command }: VerificationStep): string => {
    const columns = stdout.isTTY ? stdout.columns : Infinity
    const label = shortenEnd(`[${index + 1}/${steps.length}] ${plainLine(name)}`, columns)
    const room = columns - displayWidth(label) - 4
    return room < 4 ? label : `${label}  ${paint.dim(`$ ${shortenEnd(plainLine(command), room)}`)}`
  }
  const event = (happened: VerifyEvent): void => {
    switch (happened.kind) {
      case 'sandbox_opened':
        say(paint.dim(headline(happened.report)))
        for (const lack of lacksOf(happened.report)) {
          if (!said.has(lack)) warn(lack)
          said.add(lack)
        }
        return
      case 'progress':
        print(note.dim(plainLine(happened.text)))
        return
      case 'step_started':
        say(title(happened.index, happened.step))
        tail = logTail(tailLinesShown)
        isOpen = true
        // Verbose output needs no heartbeat.
        if (!json && !verbose) display.started()
        return
      case 'step_output':
        tail.push(happened.text)
        if (verbose && !json) stdout.write(quoted(happened.text))
        else display.printed(happened.text)
        return
      case 'step_ended':
        display.ended()
        if (verbose && !json && !atLineStart) stdout.write('\n')
        atLineStart = true
        isOpen = happened.command.exit_code === null
        say(`      ${endOf(happened, signal.aborted, stdout.color)}`)
    }
  }
  return {
    event,
    warn,
    end: (response: VerifierResponse, evidence: RecordedEvidence): void => {
      const { status, run_id } = response
      // The output of a passed step is never shown.
      const isShown = !verbose && (status === 'FAIL' || isOpen)
      const shown = isShown ? asOutput(plainText(tail.text()).trimEnd()) : ''
      const lines = [
        ...(shown === '' ? [] : ['', shown, '']),
        ...endLines(response),
        ...evidenceLines(evidence),
      ]
      const colour = { PASS: paint.green, FAIL: paint.red, INFRA_ERROR: paint.yellow }[status]
      for (const line of lines) say(line)
      say(`${colour(paint.bold(status))}${run_id === null ? '' : `  ${run_id}`}`)
    },
  }
}

/** Before every line of a step's output, so that none looks like a line of Gantry. */
const outputMark = '  | '

function asOutput(text: string): string {
  return text === ''
    ? ''
    : text
        .split('\n')
        .map((line) => `${outputMark}${line}`.trimEnd())
        .join('\n')
}

/** A replacement for an image is named without its directories; the manifest lists them. */
function headline({ engine, engineVersion, image, network, workspace }: SandboxReport): string {
  const version = engineVersion === null ? '' : ` ${engineVersion}`
  const [used = image] = image.replace(/^(sha256:[0-9a-f]{12})[0-9a-f]+$/, '$1').split(': ')
  return plainLine(`${engine}${version}, ${used}, workspace ${workspace}, network ${network}`)
}

function endOf(
  { command, timedOut }: Extract<VerifyEvent, { kind: 'step_ended' }>,
  isCancelled: boolean,
  color: boolean,
): string {
  const { green, red, yellow, dim } = createColors(color)
  const { exit_code, duration_ms } = command
  const took = formatDuration(duration_ms)
  if (exit_code === null)
    return isCancelled
      ? `${yellow('cancelled')} ${dim(`after ${took}`)}`
      : `${yellow('interrupted')} ${dim(`after ${took}, without an exit code`)}`
  const how = timedOut ? 'timed out, exit 124' : `exit ${exit_code}`
  return `${exit_code === 0 ? green('ok') : red('failed')} ${dim(`${how}, ${took}`)}`
}

function lacksOf({ limits, shortfalls }: SandboxReport): readonly string[] {
  const values = {
    memoryBytes: ['memory', formatSize],
    cpus: ['processors', String],
    pids: ['processes', String],
    diskBytes: ['disk', formatSize],
  } as const
  const missing = (['memoryBytes', 'cpus', 'pids', 'diskBytes'] as const).flatMap((key) => {
    const state = limits[key]
    const [name, show] = values[key]
    return state.kind === 'applied' ? [] : [{ what: `${name} (${show(state.wanted)})`, why: state.why }]
  })
  return [
    ...[...Map.groupBy(missing, ({ why }) => why)].map(
      ([why, limits]) => `no limit on ${limits.map(({ what }) => what).join(', ')}: ${why}`,
    ),
    ...shortfalls,
  ]
}

function endLines({
  status,
  fake_green,
  failed_step,
  error_type,
  error_message,
  artifact_paths,
  hint,
}: VerifierResponse): readonly string[] {
  const log = artifact_paths.find((path) => path.endsWith('combined.log'))
  return [
    ...(fake_green === undefined ? [] : [`${plainLine(failed_step?.name ?? 'a step')}: ${fake_green}`]),
    ...(error_message === undefined ? [] : [`${error_type}: ${plainText(error_message)}`]),
    ...(failed_step?.killed === undefined ? [] : [`${plainLine(failed_step.name)}: ${failed_step.killed}`]),
    ...(hint === undefined ? [] : [`hint: ${plainText(hint)}`, '']),
    ...(status === 'PASS' || log === undefined ? [] : [`log: ${log}`]),
  ]
}

function evidenceLines({ commands, why }: RecordedEvidence): readonly string[] {
  return [
    ...(commands.length === 0
      ? []
      : [`Recorded as evidence for the guard: ${commands.map(plainLine).join(', ')}`]),
    ...(why === null ? [] : [why]),
  ]
}

const keptChars = 4_096

/** Permanent lines, and on a terminal a moving line below: the duration of the step and its last output. */
function stepDisplay({ stdout, env, signal }: CliContext) {
  const context = terminalContext({ stdout, env })
  const plain = plainDisplay(context)
  let display: Display = plain
  let running: View | null = null
  let startedMs = 0
  let output = ''
  const text = (): string => {
    const state = signal.aborted ? 'being cancelled' : 'running'
    const last = output.split(/[\r\n]/).findLast((line) => line.trim() !== '') ?? ''
    return `      ${state} ${formatElapsed(monotonicMs() - startedMs)}  ${plainLine(last)}`.trimEnd()
  }
  const view: View = { frame: ({ columns }) => shortenEnd(text(), columns - 1), heartbeat: text }
  /** Loaded late, because most steps of a quick verification end before it is needed. */
  const enliven = async (): Promise<void> => {
    const { liveDisplay } = await import('../report/console/live-display.ts')
    if (display !== plain) return
    plain.stop()
    display = liveDisplay(context)
    if (running !== null) display.start(running)
  }
  return {
    line: (line: string) => display.line(line),
    /** Writes to another stream of the same terminal. */
    aside: (write: () => void): void => {
      display.stop()
      write()
      if (running !== null) display.start(running)
    },
    started: () => {
      startedMs = monotonicMs()
      output = ''
      running = view
      display.start(view)
      if (context.live) void enliven()
    },
    printed: (piece: string): void => {
      output = (output + piece).slice(-keptChars)
    },
    ended: () => {
      running = null
      display.stop()
    },
  }
}
