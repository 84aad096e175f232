import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { GantryEvent, SessionEvent, ToolCallEvent, ToolResultEvent } from '../../core/event.ts'
import { shorten } from '../../core/shorten.ts'
import { escapeHtml, longText } from './escape-html.ts'

const maxEvents = 5_000
const maxChars = 2_000_000

/**
 * Events as a readable conversation: messages, tool calls, and each result under its call. Bounded; events beyond the limit are not read.
 */
export async function transcript(events: AsyncIterable<GantryEvent>) {
  const items: Item[] = []
  const calls = new Map<string, Item>()
  let seen = 0
  let chars = 0
  let firstTs: number | null = null
  for await (const event of events) {
    if (event.event === 'usage') continue
    if (seen >= maxEvents || chars >= maxChars) return { html: items.map(render).join('\n'), cut: true }
    seen += 1
    firstTs ??= event.ts
    const at = `+${formatDuration(Math.max(0, event.ts - firstTs) * 1000)}`
    const item = placed(event, at, items, calls)
    chars += item === null ? 0 : item.grownBy
  }
  return { html: items.map(render).join('\n'), cut: false }
}

interface Item {
  readonly className: string
  readonly at: string
  html: string
  result: string
  /** The length of the last event. */
  grownBy: number
  /** Raw text so far, when the item is output of the process; following chunks are appended. */
  output: string | null
}

function placed(event: GantryEvent, at: string, items: Item[], calls: Map<string, Item>): Item | null {
  const last = items.at(-1)
  if (event.event === 'output' && last !== undefined && last.output !== null) {
    last.output += event.text
    const html = outputHtml(last.output, last.at)
    last.grownBy = Math.max(0, html.length - last.html.length)
    last.html = html
    return last
  }
  const call = event.event === 'tool_result' && event.id !== undefined ? calls.get(event.id) : undefined
  if (event.event === 'tool_result' && call !== undefined) {
    call.result = resultHtml(event)
    call.grownBy = call.result.length
    return call
  }
  const shown = eventHtml(event, at)
  // A log of a newer version may contain unknown kinds of events.
  if (shown === null || shown === undefined) return null
  const output = event.event === 'output' ? event.text : null
  const item: Item = { ...shown, at, result: '', grownBy: shown.html.length, output }
  if (event.event === 'tool_call' && event.id !== undefined) calls.set(event.id, item)
  items.push(item)
  return item
}

function render({ className, html, result }: Item): string {
  return `<li class="${className}">${html}${result}</li>`
}

/** One event as an item of a conversation. */
interface EventHtml {
  readonly className: string
  readonly html: string
}

/** null for events that are not part of the conversation. */
function eventHtml(event: GantryEvent, at: string): EventHtml | null {
  const harness = (ok: boolean, html: string): EventHtml => ({
    className: ok ? 'harness' : 'harness bad',
    html,
  })
  switch (event.event) {
    case 'message':
      return event.text.trim() === '' ? null : message(event, at)
    case 'tool_call':
      return { className: nested('call', event), html: who(event.tool, at) + asked(event) }
    case 'tool_result':
      return { className: nested('call', event), html: who('result', at) + resultHtml(event) }
    case 'output':
      return event.text.trim() === '' ? null : harness(true, outputHtml(event.text, at))
    case 'raw':
      return harness(true, folded(who('unknown line', at), longText(event.line)))
    case 'error':
      return harness(false, who(`error: ${event.reason}`, at) + paragraph(event.message))
    case 'usage':
      return null
    case 'model_call': {
      if (event.fault === undefined && event.status < 400) return null
      const fault = event.fault === undefined ? '' : `, fault ${event.fault}`
      return harness(
        false,
        who('model call', at) + paragraph(`${event.model}: status ${event.status} by ${event.by}${fault}`),
      )
    }
    case 'spawn':
      return harness(true, who('started', at) + command([event.command, ...event.args].join(' ')))
    case 'session':
      return harness(true, who('session', at) + paragraph(sessionText(event)))
    case 'hook': {
      const outcome = [event.name, event.outcome].filter((part) => part !== undefined).join(': ')
      return harness(
        (event.exit_code ?? 0) === 0,
        who(`hook ${event.hook}`, at, event.exit_code) + paragraph(outcome) + longText(event.output ?? ''),
      )
    }
    case 'complete': {
      const ending = `${event.ending.replaceAll('_', ' ')} after ${formatDuration(event.duration_secs * 1000)}`
      return harness(
        event.exit_code === 0,
        who('agent ended', at, event.exit_code ?? undefined) + paragraph(ending),
      )
    }
    case 'setup_command':
    case 'health_check':
      return harness(
        event.success,
        who(event.event.replaceAll('_', ' '), at, event.exit_code) +
          command(event.command) +
          longText(event.output),
      )
    case 'target_call':
      return harness(
        (event.exit_code ?? 0) === 0,
        who('call of the tool', at, event.exit_code ?? undefined) +
          command(event.args.join(' ')) +
          longText(event.stdout ?? '') +
          longText(event.stderr ?? ''),
      )
    case 'post_script':
      return harness(
        event.exit_code === 0 && !event.timed_out,
        who(event.timed_out ? 'post script, timed out' : 'post script', at, event.exit_code) +
          command(event.command) +
          longText(event.stdout) +
          longText(event.stderr),
      )
    case 'gate':
      return {
        className: event.passed ? 'harness good' : 'harness bad',
        html: who(`gate ${event.type} ${event.passed ? 'passed' : 'failed'}`, at) + paragraph(event.message),
      }
    case 'evaluator':
      return harness(
        event.error === undefined,
        who(`evaluator ${event.name}`, at) + paragraph(event.error ?? scoreText(event.score)),
      )
    case 'judge':
      return harness(
        event.error === undefined,
        who(`judge ${event.model}, sample ${event.sample}`, at) +
          paragraph(event.error ?? scoreText(event.weighted_score)),
      )
    case 'note':
      return {
        className: event.level === 'warning' ? 'harness warn' : 'harness',
        html: who(event.level, at) + paragraph(event.message),
      }
  }
}

/** The result of a tool, shown under its call. */
function resultHtml(event: ToolResultEvent): string {
  const failed = event.is_error === true || (event.exit_code ?? 0) !== 0
  const unknown = event.is_error === true && event.exit_code === undefined
  const chip = unknown ? '<span class="chip bad">error</span>' : exitChip(event.exit_code)
  return `<div class="result${failed ? ' bad' : ''}">${chip}${longText(event.output)}</div>`
}

function outputHtml(text: string, at: string): string {
  return who('output', at) + longText(text)
}

function message(event: Extract<GantryEvent, { event: 'message' }>, at: string): EventHtml {
  const { role, text } = event
  const head = who(role, at)
  return role === 'thinking' || role === 'system'
    ? { className: nested('message quiet', event), html: folded(head, paragraph(text)) }
    : { className: nested(`message ${role}`, event), html: head + paragraph(text) }
}

/** Events of a subagent are indented. */
function nested(className: string, event: { readonly parent_id?: string }): string {
  return event.parent_id === undefined ? className : `${className} nested`
}

function who(name: string, at: string, exitCode?: number): string {
  const chip = exitChip(exitCode)
  return `<span class="who">${escapeHtml(name)}</span> <span class="at">${at}</span>${chip === '' ? '' : ` ${chip}`}`
}

function folded(head: string, body: string): string {
  return `<details><summary>${head}</summary>${body}</details>`
}

function paragraph(text: string): string {
  if (text.trim() === '') return ''
  return text.length > 4_000 ? longText(text) : `<p class="said">${escapeHtml(text.trim())}</p>`
}

function command(text: string): string {
  return `<pre class="command">${escapeHtml(shorten(text, 4_000, ' …'))}</pre>`
}

function asked({ command: shell, input }: ToolCallEvent): string {
  if (shell !== undefined) return command(shell)
  if (input === undefined || input === null) return ''
  return longText(typeof input === 'string' ? input : JSON.stringify(input, null, 2))
}

/** An unknown exit code is not shown: unknown is not zero. */
function exitChip(code: number | undefined): string {
  return code === undefined ? '' : `<span class="chip ${code === 0 ? 'good' : 'bad'}">exit ${code}</span>`
}

function sessionText(event: SessionEvent): string {
  return [
    [event.agent, event.agent_version].filter((part) => part !== undefined).join(' '),
    event.model === undefined ? '' : `model ${event.model}`,
    event.tools === undefined ? '' : counted(event.tools.length, 'tool'),
    ...(event.plugins ?? []).map((plugin) => `plugin ${plugin}`),
    ...(event.plugin_errors ?? []).map((problem) => `plugin error: ${problem}`),
    ...(event.mcp_servers ?? []).map((server) => `MCP server ${server}`),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function scoreText(score: number | undefined): string {
  return score === undefined ? '' : `score ${score.toFixed(2)}`
}
