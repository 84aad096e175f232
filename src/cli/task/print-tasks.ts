import { basename } from 'node:path'
import pc from 'picocolors'
import { formatDuration } from '../../core/duration.ts'
import { plainLine } from '../../report/plain-text.ts'
import { type Column, textTable } from '../../report/text-table.ts'
import type { QueuedTask, TaskQueue, TaskState } from '../../store/queue/contract.ts'
import { changePlace } from '../../task/apply-change.ts'
import type { CliContext } from '../context.ts'

export function printTasks(
  tasks: readonly QueuedTask[],
  queue: Pick<TaskQueue, 'events'>,
  nowMs: number,
  { stdout }: CliContext,
): void {
  const table = textTable(
    columns(queue, nowMs, stdout.color),
    tasks,
    stdout.isTTY ? stdout.columns : Infinity,
  )
  for (const line of [table.heading, ...tasks.map(table.line)]) stdout.write(`${line}\n`)
}

function columns(queue: Pick<TaskQueue, 'events'>, nowMs: number, color: boolean): Column<QueuedTask>[] {
  const { bold, dim } = pc.createColors(color)
  return [
    { title: 'TASK', text: ({ id }) => id, paint: bold },
    {
      title: 'STATE',
      text: (task) => `${stateText(task)}${fateText(task, queue)}`,
      paint: (text, { state }) => paintState(text, state, color),
    },
    {
      title: 'ATTEMPT',
      align: 'right',
      dropAt: 3,
      text: ({ current_attempt }) => (current_attempt === 0 ? '-' : `${current_attempt}/12`),
    },
    { title: 'TIME', align: 'right', dropAt: 4, text: (task) => timeOf(task, nowMs), paint: dim },
    { title: 'REPOSITORY', dropAt: 5, text: ({ repository }) => plainLine(basename(repository)), paint: dim },
    {
      title: 'WHAT',
      shorten: 'end',
      dropAt: 1,
      text: ({ description }) => plainLine(description.split('\n')[0] ?? ''),
    },
  ]
}

export const leftByWorker = ', left by its worker'

function stateText({ state, position, phase, dry_run, abandoned }: QueuedTask): string {
  const dry = dry_run ? ' (dry run)' : ''
  if (state === 'QUEUED') return `${state} ${position}${dry}`
  if (abandoned) return `${state}${leftByWorker}`
  return phase === null ? `${state}${dry}` : `${state} ${phase}${dry}`
}

function fateText({ id, state }: QueuedTask, queue: Pick<TaskQueue, 'events'>): string {
  if (state !== 'SUCCESS' && state !== 'WEAKENED') return ''
  const { isApplied, isDropped, committed } = changePlace(queue, id)
  const words = [isApplied && 'applied', committed !== null && 'committed', isDropped && 'dropped']
  return words.map((word) => (word === false ? '' : `, ${word}`)).join('')
}

function timeOf({ created_at, started_at, completed_at }: QueuedTask, nowMs: number): string {
  const from = Date.parse(started_at ?? created_at)
  const to = completed_at === null ? nowMs : Date.parse(completed_at)
  return formatDuration(Math.max(0, to - from))
}

export function paintState(text: string, state: TaskState, color: boolean): string {
  const { green, red, yellow, cyan, dim } = pc.createColors(color)
  const paints = {
    QUEUED: dim,
    RUNNING: cyan,
    SUCCESS: green,
    CANCELLED: yellow,
    WEAKENED: red,
    NO_CHANGE: yellow,
    STUCK: red,
    INFRA_ERROR: yellow,
  }
  return paints[state](text)
}
