import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TargetInvocation, ToolUse } from '../analysis/contract.ts'
import type { InteractionMetrics } from '../core/trial.ts'
import type { WorkspaceDelta } from './contract.ts'
import { gateTrial } from './gate-trial.conformance.ts'
import { gateSchema } from './index.ts'

describe('no_transcript_errors', () => {
  const check = async (
    invocations: readonly TargetInvocation[],
    invocationSource: InteractionMetrics['source'] = 'events',
  ) => {
    using trial = gateTrial()
    return trial.check({ type: 'no_transcript_errors' }, { invocations, invocationSource })
  }

  test('passes when every invocation succeeded', async () => {
    expect(await check([invocation('tool a', 0), invocation('tool b', 0)])).toMatchObject({
      passed: true,
      message: 'all 2 invocations succeeded',
      detail: { invocations: 2, failed: [], unknown_exit_codes: 0, source: 'events' },
    })
  })

  test('fails and names the first few failures with their exit codes', async () => {
    const failures = Array.from({ length: 30 }, (_, index) => invocation(`tool bad${index}`, 2))
    const result = await check([invocation('tool good', 0), ...failures])
    expect(result.passed).toBe(false)
    expect(result.message).toContain('30 of 31 invocations failed: tool bad0 (exit code 2); ')
    expect(result.message).toContain('and 27 more')
    expect(result.detail.failed).toHaveLength(21)
  })

  test('an approximate exit code fails too and is marked as such', async () => {
    expect((await check([{ ...invocation('tool a', 1), approximate: true }])).message).toContain('about 1')
  })

  test('an unknown exit code is not an error, and the message counts them', async () => {
    expect(await check([invocation('tool a', null), invocation('tool b', 0)])).toMatchObject({
      passed: true,
      message: expect.stringContaining('the end of 1 is unknown'),
    })
  })

  test('without any invocation it passes and says so', async () => {
    expect(await check([], 'none')).toMatchObject({
      passed: true,
      message: expect.stringContaining('no invocation of the target tool was seen'),
      detail: { source: 'none' },
    })
    expect(await check([invocation('tool a', 0)], 'shim')).toMatchObject({ detail: { source: 'shim' } })
  })
})

describe('workspace_delta', () => {
  const check = async (keys: object, delta: Partial<WorkspaceDelta>) => {
    using trial = gateTrial()
    const complete = { created: [], changed: [], deleted: [], ...delta }
    return trial.check({ type: 'workspace_delta', ...keys }, { delta: async () => complete })
  }

  test('without keys no change is allowed', async () => {
    expect(await check({}, {})).toMatchObject({ passed: true })
    for (const kind of ['created', 'changed', 'deleted']) {
      expect(await check({}, { [kind]: ['a.txt'] })).toMatchObject({
        passed: false,
        message: `unexpected: ${kind} a.txt`,
        detail: { unexpected: [`${kind} a.txt`], [kind]: 1 },
      })
    }
  })

  test('is exhaustive in both directions', async () => {
    const keys = { created: ['out/*.json'], changed: ['README.md'] }
    expect(
      await check(keys, { created: ['out/a.json', 'out/b.json'], changed: ['README.md'] }),
    ).toMatchObject({
      passed: true,
    })
    expect(await check(keys, { created: ['out/a.json', 'out/deep/c.json'] })).toMatchObject({
      passed: false,
      detail: { unexpected: ['created out/deep/c.json'], missing: ['changed README.md'] },
    })
  })

  test('a path of another kind does not count', async () => {
    expect(await check({ created: ['a'] }, { changed: ['a'] })).toMatchObject({
      detail: { unexpected: ['changed a'], missing: ['created a'] },
    })
  })

  test('an optional entry may be absent', async () => {
    const keys = { created: [{ path: 'log.txt', optional: true }, { path: 'out.txt' }] }
    expect(await check(keys, { created: ['out.txt'] })).toMatchObject({ passed: true })
    expect(await check(keys, { created: ['log.txt', 'out.txt'] })).toMatchObject({ passed: true })
    expect(await check(keys, { created: ['log.txt'] })).toMatchObject({ passed: false })
  })

  test('allow covers every kind and requires nothing; forbid overrides everything', async () => {
    const keys = { created: ['**/*.md'], allow: ['.cache/**'], forbid: ['docs/**'] }
    const delta = { created: ['a.md', '.cache/x/y'], deleted: ['.cache/old'] }
    expect(await check(keys, delta)).toMatchObject({ passed: true })
    expect(await check(keys, { created: ['a.md', 'docs/b.md'] })).toMatchObject({
      passed: false,
      message: 'forbidden: created docs/b.md',
      detail: { forbidden: ['created docs/b.md'], unexpected: [] },
    })
  })

  test('globs match hidden files, a trailing slash means everything below, and ./ is ignored', async () => {
    const delta = { created: ['out/.hidden', 'out/a/b'] }
    expect(await check({ created: ['out/'] }, delta)).toMatchObject({ passed: true })
    expect(await check({ created: ['./**'] }, delta)).toMatchObject({ passed: true })
    expect(await check({ created: ['*'] }, { created: ['.env'] })).toMatchObject({ passed: true })
  })

  test('a name with glob characters matches literally', async () => {
    expect(await check({ created: ['notes [old].md'] }, { created: ['notes [old].md'] })).toMatchObject({
      passed: true,
    })
  })

  test('the lists in the detail are limited and count the omitted entries', async () => {
    const created = Array.from({ length: 500 }, (_, index) => `file${index}`)
    const { detail, message } = await check({}, { created })
    expect(detail.unexpected).toHaveLength(51)
    expect(detail).toMatchObject({ created: 500, unexpected: expect.arrayContaining(['and 450 more']) })
    expect(message).toContain('and 495 more')
  })

  test('listing exactly all changes always passes, and omitting one path never does', async () => {
    const path = fc.stringMatching(/^[a-z]{1,4}(\/[a-z]{1,4})?$/)
    const paths = fc.uniqueArray(path, { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(paths, paths, async (created, deleted) => {
        expect((await check({ created, deleted }, { created, deleted })).passed).toBe(true)
        expect((await check({ created: created.slice(1), deleted }, { created, deleted })).passed).toBe(false)
        expect((await check({ created, deleted }, { created: created.slice(1), deleted })).passed).toBe(false)
      }),
      { numRuns: 40 },
    )
  })

  test('a file system error in the workspace fails the gate, a machine error is thrown', async () => {
    using trial = gateTrial()
    const failing = (code: string) => async () => {
      throw Object.assign(new Error(`${code}: it broke`), { code })
    }
    expect(await trial.check({ type: 'workspace_delta' }, { delta: failing('EACCES') })).toMatchObject({
      passed: false,
      message: 'could not be checked: EACCES: it broke',
    })
    await expect(
      trial.check({ type: 'workspace_delta' }, { delta: failing('ENOSPC') }),
    ).rejects.toMatchObject({
      code: 'NO_SPACE',
    })
    await expect(
      trial.check({ type: 'workspace_delta' }, { delta: () => Promise.reject(new TypeError('a bug')) }),
    ).rejects.toThrow('a bug')
  })
})

describe('tool_called', () => {
  const uses: readonly ToolUse[] = [
    use('Read', { output: 'docs' }),
    use('Bash', { command: 'tool add milk', output: '', exitCode: 1 }),
    use('Bash', { command: 'tool add milk', output: '', exitCode: 0 }),
    use('mcp__tasks__list', { output: 'denied', isError: true }),
    use('Bash', { command: 'tool list' }),
  ]
  const check = async (keys: object, toolUses = uses) => {
    using trial = gateTrial()
    return trial.check({ type: 'tool_called', ...keys }, { toolUses })
  }

  test.each<[object, boolean]>([
    [{ tool: 'Bash' }, true],
    [{ tool: 'Write' }, false],
    [{ tool: 'bash' }, false],
    [{ tool: 'mcp__*' }, true],
    [{ tool: 'mcp__tasks__*', min: 2 }, false],
    [{ command: '^tool list' }, true],
    [{ tool: 'Bash', command: 'docs' }, false],
    [{ tool: 'Read', command: '.*' }, false],
    [{ tool: 'Bash', min: 3 }, true],
    [{ tool: 'Bash', min: 4 }, false],
    [{ tool: 'Bash', max: 3 }, true],
    [{ tool: 'Bash', max: 2 }, false],
    [{ tool: 'Write', min: 0, max: 0 }, true],
    [{ tool: 'Bash', min: 0, max: 0 }, false],
    [{ tool: 'Write', max: 0 }, true],
    [{ tool: 'Write', min: 0 }, true],
    [{ command: 'tool add', succeeded: true, min: 1, max: 1 }, true],
    [{ tool: 'mcp__*', succeeded: true }, false],
    [{ command: 'tool list', succeeded: true }, false],
    [{ tool: 'Read', before: { tool: 'Bash' } }, true],
    [{ tool: 'Bash', before: { tool: 'Read' } }, false],
    [{ tool: 'Read', before: { tool: 'Write' } }, true],
    [{ tool: 'Bash', after: { tool: 'Read' } }, true],
    [{ tool: 'Read', after: { tool: 'Bash' } }, false],
    [{ tool: 'Bash', after: { tool: 'Write' } }, false],
    [{ command: 'tool list', after: { command: 'tool add' }, before: { tool: 'Write' } }, true],
    [{ tool: 'Bash', before: { tool: 'Bash' } }, false],
    [{ tool: 'Write', min: 0, before: { tool: 'Read' } }, true],
  ])('%j is %s', async (keys, expected) => {
    expect((await check(keys)).passed).toBe(expected)
  })

  test('shows what it counted and what it expected', async () => {
    expect(await check({ tool: 'Bash', min: 4 })).toMatchObject({
      message: 'Bash was used 3 times, expected at least 4',
      detail: {
        matching: 3,
        tool_uses: 5,
        uses: expect.arrayContaining(['Bash: tool add milk (exit code 1)']),
      },
    })
  })

  test('a star matches slashes, and a name with glob characters matches itself', async () => {
    expect(await check({ tool: 'fs*' }, [use('fs/read')])).toMatchObject({ passed: true })
    expect(await check({ tool: 'run[0]' }, [use('run[0]')])).toMatchObject({ passed: true })
    expect(await check({ tool: '!Bash' }, [use('Read')])).toMatchObject({ passed: false })
  })

  test('reports when the agent used no tool at all, passed or not', async () => {
    expect(await check({ tool: 'Bash' }, [])).toMatchObject({
      passed: false,
      message: expect.stringContaining('no tool use at all'),
    })
    expect(await check({ tool: 'Bash', max: 0 }, [])).toMatchObject({
      passed: true,
      message: expect.stringContaining('no tool use at all'),
    })
  })

  test('reports when the order is only correct because the other tool was never used', async () => {
    expect((await check({ tool: 'Read', before: { tool: 'Write' } })).message).toContain(
      'Write was never used',
    )
  })

  test.each<[object, string]>([
    [{}, 'name a tool'],
    [{ tool: 'x', min: 2, max: 1 }, 'max is smaller'],
    [{ command: '(' }, 'missing closing'],
    [{ tool: 'x', before: {} }, 'name a tool'],
    [{ tool: 'x', min: -1 }, 'expected number to be >=0'],
    [{ tool: 'x', tols: 'y' }, 'Unrecognized key'],
  ])('refuses %j at load', (keys, message) => {
    const result = gateSchema.safeParse({ type: 'tool_called', ...keys })
    expect(result.error?.message).toContain(message)
  })
})

function invocation(command: string, exitCode: number | null): TargetInvocation {
  return { command, exitCode, subcommand: null, approximate: false, help: false }
}

function use(tool: string, more: Partial<ToolUse> = {}): ToolUse {
  return { tool, ts: 0, ...more }
}
