import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { InteractionMetrics } from '../core/trial.ts'
import type { TargetInvocation } from './contract.ts'
import { interactionMetrics } from './metrics.ts'

describe('interactionMetrics', () => {
  test('counts invocations, distinct commands, errors, retries and help', () => {
    const metrics = measure([
      invocation('tool --help', 0, { help: true, subcommand: null }),
      invocation('tool add milk', 2),
      invocation('tool add milk', 0),
      invocation('tool list', 0, { subcommand: 'list' }),
    ])
    expect(metrics).toEqual({
      total_commands: 4,
      unique_commands: 3,
      error_count: 1,
      error_rate: 0.25,
      retry_count: 1,
      retry_rate: 0.25,
      help_invocations: 1,
      first_try_success_rate: 2 / 3,
      iteration_ratio: 0.75,
      completed: true,
      source: 'events',
      subcommands: {
        add: { total: 2, unique: 1, errors: 1, retries: 1, help: 0 },
        list: { total: 1, unique: 1, errors: 0, retries: 0, help: 0 },
      },
    })
  })

  test('a command that fails and is then retried with success did not succeed at the first try', () => {
    expect(measure([invocation('tool a', 1), invocation('tool a', 0)]).first_try_success_rate).toBe(0)
  })

  test('three identical failures are not a success', () => {
    const metrics = measure([invocation('tool a', 1), invocation('tool a', 1), invocation('tool a', 1)])
    expect(metrics).toMatchObject({ first_try_success_rate: 0, error_count: 3, retry_count: 2 })
  })

  test('the same subcommand with other arguments is not a retry', () => {
    expect(measure([invocation('tool add a', 0), invocation('tool add b', 0)])).toMatchObject({
      unique_commands: 2,
      retry_count: 0,
      iteration_ratio: 1,
    })
  })

  test('iteration_ratio is unique over total: repetition makes it smaller', () => {
    const repeated = Array.from({ length: 4 }, () => invocation('tool a', 0))
    expect(measure(repeated).iteration_ratio).toBe(0.25)
  })

  test('the first attempt decides also when it is followed by failures', () => {
    expect(measure([invocation('tool a', 0), invocation('tool a', 1)]).first_try_success_rate).toBe(1)
  })

  test('an unknown exit code is neither an error nor a success', () => {
    const metrics = measure([invocation('tool a', null), invocation('tool b', 0), invocation('tool c', 1)])
    expect(metrics).toMatchObject({ error_count: 1, first_try_success_rate: 0.5, total_commands: 3 })
    expect(measure([invocation('tool a', null)])).toMatchObject({
      error_rate: null,
      first_try_success_rate: null,
    })
  })

  test('without commands every number is zero', () => {
    expect(measure([])).toMatchObject({
      total_commands: 0,
      error_rate: 0,
      retry_rate: 0,
      first_try_success_rate: 0,
      iteration_ratio: 0,
      subcommands: {},
    })
  })

  test('shows whether the agent completed and the source of the numbers', () => {
    expect(interactionMetrics([], { completed: false, source: 'transcript' })).toMatchObject({
      completed: false,
      source: 'transcript',
    })
  })

  test('a subcommand may have any name', () => {
    const { subcommands } = measure([invocation('tool __proto__', 0, { subcommand: '__proto__' })])
    expect(Object.keys(subcommands)).toEqual(['__proto__'])
  })
})

const invocations = fc.array(
  fc.record({
    command: fc.constantFrom('tool a', 'tool b', 'tool b x', 'tool c'),
    subcommand: fc.constantFrom('a', 'b', null),
    exitCode: fc.constantFrom(0, 1, 127, null),
    approximate: fc.boolean(),
    help: fc.boolean(),
  }),
)

test('retries are the total minus the distinct commands', () => {
  fc.assert(
    fc.property(invocations, (list) => {
      const metrics = measure(list)
      expect(metrics.retry_count).toBe(metrics.total_commands - metrics.unique_commands)
      expect(metrics.total_commands).toBe(list.length)
    }),
  )
})

test('every rate is between 0 and 1', () => {
  fc.assert(
    fc.property(invocations, (list) => {
      const { error_rate, retry_rate, first_try_success_rate, iteration_ratio } = measure(list)
      for (const rate of [error_rate, retry_rate, first_try_success_rate, iteration_ratio]) {
        expect(rate ?? 0).toBeGreaterThanOrEqual(0)
        expect(rate ?? 0).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test('repeating a command with success changes neither distinct commands, errors nor first tries', () => {
  fc.assert(
    fc.property(
      invocations.filter((list) => list.length > 0),
      fc.nat(),
      (list, pick) => {
        const repeated = list[pick % list.length]
        if (repeated === undefined) return
        const before = measure(list)
        const after = measure([...list, { ...repeated, exitCode: 0 }])
        expect(after.unique_commands).toBe(before.unique_commands)
        expect(after.error_count).toBe(before.error_count)
        expect(after.first_try_success_rate).toBe(before.first_try_success_rate)
        expect(after.retry_count).toBe(before.retry_count + 1)
      },
    ),
  )
})

test('subcommands add up to the invocations that have one', () => {
  fc.assert(
    fc.property(invocations, (list) => {
      const rows = Object.values(measure(list).subcommands)
      const named = list.filter(({ subcommand }) => subcommand !== null)
      expect(rows.reduce((sum, { total }) => sum + total, 0)).toBe(named.length)
      for (const { total, unique, retries } of rows) expect(retries).toBe(total - unique)
    }),
  )
})

function measure(list: readonly TargetInvocation[]): InteractionMetrics {
  return interactionMetrics(list, { completed: true, source: 'events' })
}

function invocation(
  command: string,
  exitCode: number | null,
  more: Partial<TargetInvocation> = {},
): TargetInvocation {
  return { command, exitCode, subcommand: 'add', approximate: false, help: false, ...more }
}
