import { createColors } from 'picocolors'
import type { RecordedEvidence } from '../config/guard-evidence.ts'
import { formatDuration } from '../core/duration.ts'
import { plainLine, plainText } from '../report/plain-text.ts'
import type { SandboxReport } from '../sandboxes/contract.ts'
import type { VerificationStep, VerifierResponse, VerifyEvent } from '../verifier/contract.ts'
import { formatSize } from '../verifier/parse-size.ts'
import type { CliContext } from './context.ts'

/** What a person sees of a verification. With `json` only warnings, on standard error. */
export interface VerifyView {
  event(event: VerifyEvent): void
  warn(message: string): void
  end(response: VerifierResponse, evidence: RecordedEvidence): void
}

export interface ViewOptions {
  readonly steps: readonly VerificationStep[]
  readonly verbose: boolean
  readonly json: boolean
}

export function verifyView(context: CliContext, { steps, verbose, json }: ViewOptions): VerifyView {
  const { stdout, stderr } = context
  const paint = createColors(stdout.color)
  const note = createColors(stderr.color)
  const say = (line: string): void => {
    if (!json) stdout.write(`${line}\n`)
  }
  const warn = (message: string): void => stderr.write(`${note.yellow('warning:')} ${plainLine(message)}\n`)
  const numbered = (index: number, name: string): string =>
    `[${index + 1}/${steps.length}] ${plainLine(name)}`
  const event = (happened: VerifyEvent): void => {
    switch (happened.kind) {
      case 'sandbox_opened':
        say(paint.dim(headline(happened.report)))
        for (const lack of lacksOf(happened.report)) warn(lack)
        return
      case 'progress':
        stderr.write(`${note.dim(plainLine(happened.text))}\n`)
        return
      case 'step_started':
        say(`${numbered(happened.index, happened.step.name)} ${paint.dim(plainLine(happened.step.command))}`)
        return
      case 'step_output':
        if (verbose && !json) stdout.write(plainText(happened.text))
        return
      case 'step_ended': {
        const { exit_code, duration_ms } = happened.command
        const how = happened.timedOut ? 'timed out, exit 124' : `exit ${exit_code ?? 'unknown'}`
        const mark = exit_code === 0 ? paint.green('ok') : paint.red('failed')
        say(`      ${mark} ${paint.dim(`${how}, ${formatDuration(duration_ms)}`)}`)
      }
    }
  }
  return {
    event,
    warn,
    end: (response, evidence) => {
      const lines = [...tailOf(response, verbose), ...endLines(response), ...evidenceLines(evidence)]
      const colour = { PASS: paint.green, FAIL: paint.red, INFRA_ERROR: paint.yellow }[response.status]
      for (const line of lines) say(line)
      say(`${colour(paint.bold(response.status))}${response.run_id === null ? '' : `  ${response.run_id}`}`)
    },
  }
}

function headline({ engine, engineVersion, image, network, workspace }: SandboxReport): string {
  const version = engineVersion === null ? '' : ` ${engineVersion}`
  return plainLine(`${engine}${version}, ${image}, workspace ${workspace}, network ${network}`)
}

/** Whatever was asked for and is not given. */
function lacksOf({ sandboxed, limits, shortfalls }: SandboxReport): readonly string[] {
  const values = {
    memoryBytes: ['memory', formatSize],
    cpus: ['processors', String],
    pids: ['processes', String],
  } as const
  return [
    ...(sandboxed ? [] : ['the steps run without a sandbox: nothing holds them back']),
    ...(['memoryBytes', 'cpus', 'pids'] as const).flatMap((key) => {
      const state = limits[key]
      const [name, show] = values[key]
      return state.kind === 'applied'
        ? []
        : [`no limit on ${name} (wanted ${show(state.wanted)}): ${state.why}`]
    }),
    ...shortfalls,
  ]
}

/** Where the steps' output was shown as it came, it is not shown again. */
function tailOf({ status, tail_log }: VerifierResponse, verbose: boolean): readonly string[] {
  return status === 'PASS' || verbose || tail_log === '' ? [] : ['', plainText(tail_log), '']
}

function endLines({
  status,
  fake_green,
  failed_step,
  error_type,
  error_message,
  artifact_paths,
}: VerifierResponse): readonly string[] {
  const log = artifact_paths.find((path) => path.endsWith('combined.log'))
  return [
    ...(fake_green === undefined ? [] : [`${plainLine(failed_step?.name ?? 'a step')}: ${fake_green}`]),
    ...(error_message === undefined ? [] : [`${error_type}: ${plainText(error_message)}`]),
    ...(status === 'PASS' || log === undefined ? [] : [`log: ${log}`]),
  ]
}

function evidenceLines({ commands, why }: RecordedEvidence): readonly string[] {
  return [
    ...(commands.length === 0
      ? []
      : [`The guard knows the result of: ${commands.map(plainLine).join(', ')}`]),
    ...(why === null ? [] : [why]),
  ]
}
