import { createColors } from 'picocolors'
import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { asObject, asString } from '../../core/json-fields.ts'
import { shortenEnd } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { ScoutName, TaskEvent } from '../../task/contract.ts'
import type { CliContext } from '../context.ts'
import { fitLines } from './fit-lines.ts'
import { paintState } from './print-tasks.ts'

const maxColumns = 200

const scoutNames: Readonly<Record<ScoutName, string>> = { scout_a: 'Scout A', scout_b: 'Scout B' }

export interface PrintOptions {
  /** Also print actions of the agent, output of the steps and corrections of the Scouts. */
  readonly verbose: boolean
}

/** One line per event, with its time. Text of agents, models and projects is made safe to print. */
export function taskEventPrinter(
  context: Pick<CliContext, 'stdout' | 'env'>,
  options: PrintOptions,
): (event: TaskEvent) => void {
  const { stdout } = context
  const { dim } = createColors(stdout.color)
  return (event) => {
    const at = new Date(event.ts * 1000).toTimeString().slice(0, 8)
    const isOutput = event.kind === 'verifier_output' || event.kind === 'agent'
    for (const line of linesOf(event, stdout.color, options)) {
      const fitted = isOutput ? [line] : fitLines(line, context, at.length + 2)
      stdout.write(`${dim(at)}  ${fitted.join('\n')}\n`)
    }
  }
}

function linesOf(event: TaskEvent, color: boolean, { verbose }: PrintOptions): readonly string[] {
  const { bold, dim, green, red, yellow } = createColors(color)
  const detail = (text: string): readonly string[] => (verbose ? [dim(`  ${plain(text)}`)] : [])
  switch (event.kind) {
    case 'task_started':
      return [
        `${bold(plain(event.description.split('\n')[0] ?? ''))}${event.dry_run ? ' (dry run)' : ''}${event.resumed ? ', resumed' : ''}`,
        dim(`  ${event.agent}, ${event.model}, ${event.sandbox}; ${event.task_id}, ${event.run_id}`),
      ]
    case 'milestone': {
      const attempt =
        event.attempt === undefined ? '' : dim(` Attempt ${event.attempt}/${event.max_attempts ?? 12}`)
      const paint = {
        verified: green,
        succeeded: green,
        failed: red,
        weakened: red,
        unchanged: yellow,
        stuck: red,
        infra: yellow,
        cancelled: yellow,
      }[event.milestone as string]
      return [`${(paint ?? String)(event.text)}${attempt}`]
    }
    case 'baseline': {
      const red = event.failures.length === 0 ? '' : `, red: ${event.failures.slice(0, 5).join(', ')}`
      const tests = event.tests === null ? '' : `, ${counted(event.tests, 'test')}`
      const known = event.reused ? ', known from an earlier run' : ''
      return [dim(`  ${event.status} before the task${tests}${plain(red)}${known}`)]
    }
    case 'accepted':
      return [`${green('Accepted')} by ${plain(event.by)}`]
    case 'told':
      return [`${bold('Message')}: ${plain(event.text)}`]
    case 'question':
      return [
        `${yellow('Question')}: ${plain(event.text)}`,
        `  Answer within ${formatDuration(event.timeout_ms)}: gantry task tell ${event.task_id} "…"`,
      ]
    case 'change': {
      const where = { applied: ' to your tree', undone: ' in your tree', dropped: '' }
      return [
        `${green(`Change ${event.what}`)}${event.what === 'committed' ? ` on ${plain(event.branch ?? '')}${event.commit === undefined ? '' : ` as ${event.commit.slice(0, 10)}`}` : where[event.what]}`,
      ]
    }
    case 'verifier_result': {
      const status = { PASS: green, FAIL: red, INFRA_ERROR: yellow }[event.status](event.status)
      const why = event.failure === null ? '' : `: ${plain(event.failure)}`
      return [`  ${status} ${dim(`${event.run_id ?? 'no run'}, ${formatDuration(event.duration_ms)}`)}${why}`]
    }
    case 'edit':
      return [
        dim(
          `  ${counted(event.files.length, 'file')} changed in ${formatDuration(event.duration_ms)}, ${formatCost(event.cost_usd)}`,
        ),
      ]
    case 'replan':
      return [`  ${plain(event.strategy)}`]
    case 'conflict':
      return [dim(`  decided: ${plain(`${event.question}: ${event.decision}`)}`)]
    case 'note':
      return [(event.level === 'info' ? dim : yellow)(`  ${plainLine(event.message)}`)]
    case 'scout_query':
      return event.success
        ? detail(
            `${scoutNames[event.scout]} answered in ${formatDuration(event.duration_ms)}, ${formatCost(event.cost_usd)}`,
          )
        : [
            yellow(
              `  ${scoutNames[event.scout]} did not answer (${counted(event.tries, 'try', 'tries')}): ${plain(event.error ?? 'cancelled')}`,
            ),
          ]
    case 'state_transition':
      return detail(`${event.from} → ${event.to}: ${event.reason}`)
    case 'scout_correction':
      return detail(`${scoutNames[event.scout]}: ${event.what}`)
    case 'diagnosis':
      return detail(event.text)
    case 'snapshot':
      return detail(event.path)
    case 'verifier_trigger':
      return detail(`run ${event.run_id}`)
    case 'verifier_output':
      return verbose
        ? event.text
            .replace(/\n$/, '')
            .split('\n')
            .map((line) => dim(`  | ${plainLine(line)}`))
        : []
    case 'agent':
      return verbose ? agentLines(event.event).map((line) => dim(`  ${line}`)) : []
    case 'diff':
      return []
    case 'task_ended': {
      const cost = event.cost_usd === null ? '' : `, ${formatCost(event.cost_usd)}`
      return [
        `${bold(paintState(event.state, event.state, color))}: ${plainLine(event.reason)}`,
        dim(
          `  ${counted(event.attempts, 'verification')}, ${counted(event.replans, 'REPLAN')}, ${formatDuration(event.duration_ms)}${cost}`,
        ),
        ...(event.weakened ?? []).map(({ what }) => red(`  - ${plainLine(what)}`)),
        ...(event.report === null ? [] : [`  ${event.report}`]),
      ]
    }
  }
}

function plain(text: string): string {
  return shortenEnd(plainLine(text), maxColumns)
}

/** The text of a message, or the called tool and its subject. */
function agentLines(event: Readonly<Record<string, unknown>>): readonly string[] {
  const words = [event.tool, event.command ?? subjectOf(event.input), event.text].filter(
    (value) => typeof value === 'string' && value !== '',
  )
  return words.length === 0 ? [] : [plain([event.event, ...words].join(' '))]
}

const subjectKeys = ['path', 'file_path', 'notebook_path', 'pattern', 'query', 'url', 'directory']

/** The part of a tool's input that shows its subject; undefined when unknown. */
function subjectOf(input: unknown): string | undefined {
  const fields = asObject(input)
  return subjectKeys.map((key) => asString(fields?.[key])).find((value) => value !== undefined)
}
