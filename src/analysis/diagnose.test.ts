import { expect, test } from 'vitest'
import type { InteractionMetrics, TrialRecord } from '../core/trial.ts'
import { diagnose } from './diagnose.ts'

test.each<[string, Partial<InteractionMetrics>, string]>([
  ['many errors, little help', { error_rate: 0.5, error_count: 5 }, 'wrong examples'],
  [
    'many errors, much help',
    { error_rate: 0.5, error_count: 5, help_invocations: 5 },
    'help output itself is not enough',
  ],
  ['few errors, much help', { help_invocations: 5 }, 'guidance lacks examples'],
  ['few errors, little help', {}, 'documentation and interface are clear'],
  [
    'many retries on one command',
    { error_count: 4, subcommands: { link: { total: 5, unique: 1, errors: 4, retries: 4, help: 0 } } },
    '"link" was repeated 4 times',
  ],
  ['many commands, task completed', { total_commands: 30 }, 'not the workflow'],
  ['low first-try success', { first_try_success_rate: 0.2, error_count: 1 }, '20%'],
  ['no use at all', { total_commands: 0 }, 'never invoked'],
  ['nothing seen', { total_commands: 0, source: 'none' }, 'No use of the tool was seen'],
])('%s has its own sentence', (_, metrics, sentence) => {
  expect(diagnose(measured(metrics)).join('\n')).toContain(sentence)
})

test('many commands of an incomplete task say nothing about the workflow', () => {
  expect(diagnose(measured({ total_commands: 30, completed: false })).join()).not.toContain('workflow')
})

test('repeating a command that never failed does not blame its error message', () => {
  const list = { total: 9, unique: 1, errors: 0, retries: 8, help: 0 }
  expect(diagnose(measured({ subcommands: { list } })).join()).not.toContain('error message')
})

test('a trial that did not pass gets no praise as its likely cause', () => {
  expect(diagnose(measured({}, 'fail'))).toEqual([])
})

test.each(['infra', 'invalid'] as const)('a trial that is %s says nothing about the tool', (verdict) => {
  expect(diagnose(measured({ total_commands: 0, source: 'none' }, verdict))).toEqual([])
  expect(diagnose(measured({ error_rate: 0.5, error_count: 5 }, verdict))).toEqual([])
})

test('unknown exit codes are neither praise nor blame', () => {
  expect(diagnose(measured({ error_rate: null, first_try_success_rate: null }))).toEqual([])
})

test('unknown exit codes do not lower the first-try rate', () => {
  expect(diagnose(measured({ first_try_success_rate: 0, error_count: 0 })).join()).not.toContain(
    'first attempt',
  )
})

function measured(
  metrics: Partial<InteractionMetrics>,
  verdict: TrialRecord['verdict'] = 'pass',
): Pick<TrialRecord, 'verdict' | 'metrics'> {
  const all = {
    total_commands: 10,
    unique_commands: 10,
    error_count: 0,
    error_rate: 0,
    retry_count: 0,
    retry_rate: 0,
    help_invocations: 0,
    first_try_success_rate: 1,
    iteration_ratio: 1,
    completed: true,
    source: 'events' as const,
    subcommands: {},
    ...metrics,
  }
  return { verdict, metrics: all }
}
