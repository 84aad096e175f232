import type { Placed } from '../api/use-task-feed.ts'
import type { ListedEvent } from './event-list.tsx'
import { count, duration, usd } from './format.ts'
import { bodyOf, isBad, itemsOf, labelOf, titleOf } from './turns.ts'

/** The events of a task as rows. A tool call has its result, and the output of a step is one row. */
export function taskRows(events: readonly Placed[]): ListedEvent[] {
  const agent = new Map(
    itemsOf(
      events.flatMap((event) =>
        event.kind === 'agent'
          ? [
              {
                at: event.id,
                event: { ts: event.ts, ...event.event } as never,
                head: null,
                cut: false,
                bytes: 0,
              },
            ]
          : [],
      ),
    ).map((item) => [item.at, item]),
  )
  const rows: ListedEvent[] = []
  for (const event of events) {
    const at = new Date(event.ts * 1_000).toLocaleTimeString('en-GB')
    const key = String(event.id)
    if (event.kind === 'agent') {
      const item = agent.get(event.id)
      if (item !== undefined)
        rows.push({
          key,
          kind: item.kind === 'message' || item.kind === 'thinking' ? 'message' : item.kind,
          at,
          label: labelOf(item),
          title: titleOf(item),
          body: bodyOf(item),
          isBad: isBad(item),
          depth: item.depth + 1,
        })
      continue
    }
    const before = rows.at(-1)
    if (event.kind === 'verifier_output' && before?.kind === 'output of steps') {
      const text = `${before.body[0]?.[1] ?? ''}${event.text}`
      rows[rows.length - 1] = { ...before, title: lastLine(text), body: [['', text]] }
      continue
    }
    rows.push({ key, at, ...rowOf(event) })
  }
  return rows
}

type Row = Omit<ListedEvent, 'key' | 'at'>

function rowOf(event: Exclude<Placed, { kind: 'agent' }>): Row {
  const { id: _, ts: __, task_id: ___, kind, ...rest } = event
  const body = Object.entries(rest).map(
    ([name, value]) =>
      [
        name.replaceAll('_', ' '),
        typeof value === 'string' ? value : JSON.stringify(value, null, 2),
      ] as const,
  )
  const row = (group: string, label: string, title: string, more: Partial<Row> = {}): Row => ({
    kind: group,
    label,
    title,
    body,
    ...more,
  })
  switch (event.kind) {
    case 'milestone': {
      const attempt = event.attempt === undefined ? '' : ` (attempt ${event.attempt})`
      const isBad = ['failed', 'stuck', 'infra', 'weakened'].includes(event.milestone)
      return row('milestone', '', `${event.text}${attempt}`, { isMain: true, isBad })
    }
    case 'task_started':
      return row('task', 'start', `${event.agent}, ${event.model}, ${event.sandbox}`)
    case 'task_ended':
      return row('task', 'end', event.reason, { isMain: true, isBad: event.state !== 'SUCCESS' })
    case 'baseline':
      return row('verification', 'before', `${event.status}, ${count(event.failures.length, 'failure')}`)
    case 'verifier_trigger':
      return row('verification', 'verify', `attempt ${event.attempt}, ${event.run_id}`)
    case 'verifier_output':
      return {
        kind: 'output of steps',
        label: 'output',
        title: lastLine(event.text),
        body: [['', event.text]],
      }
    case 'verifier_result':
      return row('verification', event.status, event.failure ?? `in ${duration(event.duration_ms)}`, {
        isBad: event.status !== 'PASS',
      })
    case 'diagnosis':
      return row('verification', 'diagnosis', event.text)
    case 'replan':
      return row('verification', 'replan', event.strategy, { isMain: true })
    case 'scout_query':
      return row(
        'scout',
        event.scout.replace('scout_', 'Scout ').toUpperCase().replace('SCOUT', 'Scout'),
        event.success ? event.summary : (event.error ?? 'did not answer'),
        { isBad: !event.success },
      )
    case 'scout_correction':
      return row('scout', 'correction', event.what)
    case 'conflict':
      return row('scout', 'conflict', `${event.question}: ${event.decision}`)
    case 'edit':
      return row(
        'edit',
        'edit',
        `${count(event.files.length, 'file')} in ${duration(event.duration_ms)}, ${event.cost_usd === null ? 'unmetered' : usd(event.cost_usd)}`,
      )
    case 'diff':
      return row('edit', 'diff', event.files.join(', '), { body: [['', event.text]] })
    case 'question':
      return row('message', 'question', event.text, { isMain: true })
    case 'told':
      return row('message', 'you', event.text, { isMain: true })
    case 'note':
      return row('note', event.level, event.message, { isBad: event.level === 'error' })
    case 'accepted':
      return row('task', 'accepted', `by ${event.by}`, { isMain: true })
    case 'change':
      return row(
        'task',
        'change',
        `${event.what}${event.branch === undefined ? '' : ` on ${event.branch}`}`,
        {
          isMain: true,
        },
      )
    case 'snapshot':
      return row('note', 'snapshot', event.path)
    case 'state_transition':
      return row('note', 'state', `${event.from} → ${event.to}: ${event.reason}`)
    default:
      return row('note', kind, '')
  }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

/** The question that waits for an answer; null when there is none. */
export function openQuestion(events: readonly Placed[]): Extract<Placed, { kind: 'question' }> | null {
  const last = events.findLast(({ kind }) => kind === 'question' || kind === 'told' || kind === 'edit')
  return last?.kind === 'question' ? last : null
}
