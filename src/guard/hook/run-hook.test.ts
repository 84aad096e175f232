import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { ledgerFiles, readLedger } from '../../guard-engine/ledger/read-ledger.ts'
import { answerInTime, askedAgoMs, type Deadline, hookArguments, startDeadline } from './run-hook.ts'

test('the agent, the event and the version are accepted in any order', () => {
  const expected = { agent: 'codex', event: 'Stop', agentVersion: '1.2', launched: null }
  expect(hookArguments(['--agent', 'codex', 'Stop', '--agent-version', '1.2'])).toEqual(expected)
  expect(hookArguments(['Stop', '--agent-version=1.2', '--agent=codex'])).toEqual(expected)
  expect(hookArguments(['--agent', 'codex'])).toMatchObject({ event: null, agentVersion: null })
})

test('a launcher passes the id of the event, the name of the helper and how long it took', () => {
  const launched = (seconds: number | string) =>
    hookArguments(['--agent', 'codex', 'Stop', `--launched=e_0f,0123456789abcdef,${seconds}`])
  const [eventId, helper] = ['e_0f', '0123456789abcdef']
  expect(launched(0)).toMatchObject({ launched: { eventId, helper, goneMs: 0, isFed: false } })
  expect(launched('0,fed')).toMatchObject({ launched: { goneMs: 0, isFed: true } })
  expect(launched(2)).toMatchObject({ launched: { eventId, helper, goneMs: 3000 } })
})

test.each([
  [[]],
  [['Stop']],
  [['--agent']],
  [['--agent=']],
  [['--agent', 'a', '--agent', 'b']],
  [['--agent', 'a', 'Stop', 'PreToolUse']],
  [['--agent', 'a', '--help']],
  [['--agent', 'a', '--launched=../x,y,0']],
])('%j is rejected with a sentence', (argv) => {
  expect(hookArguments(argv)).toBeTypeOf('string')
})

test('hooks that pass their deadline block what they cannot judge, and every event is in the ledger', async () => {
  await using fixture = await createFixture({ 'app/a.ts': '', 'home/x': '' })
  const top = realpathSync(fixture.path)
  const [root, guardHome] = [join(top, 'app'), join(top, 'guard')]
  const env = { HOME: join(top, 'home'), PATH: process.env.PATH, GANTRY_GUARD_HOME: guardHome }
  const never = new Promise<never>(() => {})
  const late = Promise.resolve('late' as const)
  const deadlines = {
    passed: { passed: late, over: never },
    over: { passed: late, over: Promise.resolve('over' as const) },
    far: { passed: never, over: never },
  }
  const ask = async (event: string, id: string, when: keyof typeof deadlines) => {
    const input = { file_path: join(root, 'a.ts'), old_string: id, new_string: `${id}!` }
    const payload = {
      session_id: 's1',
      cwd: root,
      hook_event_name: event,
      tool_name: 'Edit',
      tool_input: input,
      tool_use_id: id,
      ...(event === 'PostToolUse' && { tool_response: { filePath: join(root, 'a.ts') } }),
    }
    const deadline: Deadline = { ...deadlines[when], clear: () => {} }
    const { reply } = await answerInTime(
      {
        agent: 'claude-code',
        event,
        agentVersion: null,
        env,
        payload: Buffer.from(JSON.stringify(payload)),
        eventId: `e_${id}`,
      },
      { node: process.execPath, hookBin: null, edition: 'test' },
      deadline,
    )
    return reply
  }
  for (const when of ['passed', 'over'] as const)
    expect(await ask('PreToolUse', `before-${when}`, when)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('did not answer in time'),
    })
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) => ask('PostToolUse', `t${index}`, index % 2 ? 'over' : 'passed')),
  )
  for (const { exitCode, stdout } of replies) {
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout).systemMessage).toContain('did not answer in time')
  }
  await ask('PostToolUse', 'last', 'far')
  const entries = ledgerFiles(guardHome, root)
    .slice(1)
    .flatMap((path) => readLedger(guardHome, path).entries)
  expect(entries.filter(({ kind }) => kind === 'event')).toHaveLength(23)
  expect(entries.filter(({ kind }) => kind === 'decision')).toHaveLength(23)
  const counts: unknown = JSON.parse(readFileSync(join(root, '.harness/edit-tracker.json'), 'utf8'))
  expect(counts).toEqual({ [join(root, 'a.ts')]: 21 })
})

test('a hook that starts after its deadline is late at once, without a warning that the agent would read', async () => {
  const warnings: Error[] = []
  const listen = (warning: Error) => void warnings.push(warning)
  process.on('warning', listen)
  const deadline = startDeadline({ agent: 'claude-code', event: 'PreToolUse' }, 1_000_000)
  expect(await deadline.passed).toBe('late')
  deadline.clear()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', listen)
  expect(warnings).toEqual([])
})

test('a helper counts the time since the launcher began, as far as the id of the event shows it', () => {
  const second = 0x6a000000
  const ago = (ms: number, id = `e_${second.toString(16)}1f2e3d4c5b6a`) => askedAgoMs(id, second * 1000 + ms)
  expect([ago(0), ago(999), ago(1_000), ago(4_300)]).toEqual([0, 0, 1_000, 4_300])
  expect([ago(-5_000), ago(3_600_000), ago(4_000, 'e_xyz'), ago(4_000, '')]).toEqual([0, 0, 0, 0])
})
