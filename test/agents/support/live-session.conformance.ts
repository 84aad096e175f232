import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { ModelCall } from '../../../src/models/boundary/contract.ts'
import { isAlive } from '../../support/is-alive.ts'
import { type LiveStage, openLiveStage, use } from './live-claude.ts'
import { whenInstalled } from './when-installed.ts'

/** What a session of Claude Code that stays alive promises. */
export function describeLiveSession(id: string): void {
  whenInstalled([id], `a live session of ${id}`, () => {
    let stage: LiveStage
    beforeAll(async () => {
      stage = await openLiveStage(id)
    })
    afterAll(() => stage.close())

    test('twenty prompts are answered by one process, each at its own price', async () => {
      const openedAt = performance.now()
      const { session, events, calls, pid, transcript } = await stage.open()
      const openMs = Math.round(performance.now() - openedAt)
      const times: number[] = []
      for (let number = 1; number <= 20; number += 1) {
        const startedAt = performance.now()
        const outcome = await session.ask(`-prompt ${number} \u2028 漢字 "🦀"`)
        times.push(Math.round(performance.now() - startedAt))
        expect(outcome).toMatchObject({
          ending: 'exited',
          exitCode: 0,
          finalText: `Answer ${number}.`,
          failure: null,
          tokens: { input: 100, output: 10 },
        })
        expect(outcome.costUsd).toBeCloseTo(100 * 3e-6 + 10 * 15e-6, 9)
        expect(lastWords(calls)).toContain(`-prompt ${number} \u2028 漢字 "🦀"`)
      }
      console.log(`${id}: open ${openMs} ms, first prompt ${times[0]} ms, later ${median(times.slice(1))} ms`)
      expect(calls.at(-1)?.messages.filter(({ role }) => role === 'assistant').length).toBe(19)
      await session.close()
      expect(events.filter(({ event }) => event === 'spawn' || event === 'complete')).toMatchObject([
        { event: 'spawn', pid },
        { event: 'complete', ending: 'exited', exit_code: 0 },
      ])
      expect(events.filter(({ event }) => event === 'raw')).toEqual([])
      expect(transcript()).toContain('"control_response"')
      expect(isAlive(pid)).toBe(false)
    })

    test('a megabyte of prompt reaches the model', async () => {
      const { session, calls } = await stage.open()
      expect(await session.ask(`${'x'.repeat(999)}\n`.repeat(1_000))).toMatchObject({ ending: 'exited' })
      expect(
        Math.max(...calls.flatMap(({ messages }) => messages.map(({ text }) => text.length))),
      ).toBeGreaterThan(900_000)
      await session.close()
    })

    test('it reports what it has loaded without a call to the model', async () => {
      const { session, calls } = await stage.open({ files: plugin, config: { plugins: ['./demo'] } })
      const loaded = await session.loaded()
      expect(loaded).toMatchObject({
        version: expect.stringMatching(/^2\.1\./),
        tools: expect.arrayContaining(['Bash', 'mcp__plugin_demo_weather__forecast']),
        skills: expect.arrayContaining(['demo:greet']),
        agents: expect.arrayContaining(['demo:reviewer']),
        commands: expect.arrayContaining(['demo:hi', 'demo:deploy:staging']),
        plugins: expect.arrayContaining([{ name: 'demo', path: expect.stringMatching(/\/demo$/) }]),
        plugin_errors: [],
        mcp_servers: expect.arrayContaining([
          { name: 'plugin:demo:weather', status: 'connected', tools: ['forecast'] },
          expect.objectContaining({
            name: 'plugin:demo:broken',
            status: 'failed',
            error: expect.any(String),
          }),
        ]),
      })
      expect(calls).toEqual([])
      expect(await session.ask('hello')).toMatchObject({ finalText: 'Answer 1.' })
      await session.close()
    })

    test('a plugin that does not load is reported, and makes every prompt invalid', async () => {
      const { session } = await stage.open({ config: { plugins: ['./nothing-here'] } })
      expect((await session.loaded())?.plugin_errors).toEqual([expect.stringContaining('nothing-here')])
      expect((await session.ask('hello')).invalid).toContain('a plugin did not load')
      await session.close()
    })

    test('a cleared conversation is forgotten, and the cost continues from there', async () => {
      const { session, calls, events } = await stage.open()
      await session.ask('my secret is PLUM')
      const before = events.length
      await session.clear()
      const shown = events.slice(before).filter(({ event }) => event !== 'hook')
      expect(shown).toMatchObject([{ event: 'session' }])
      const outcome = await session.ask(use(['Bash', { command: 'echo hi' }]))
      expect(JSON.stringify(calls.slice(1))).not.toContain('PLUM')
      expect(outcome).toMatchObject({ finalText: 'Answer 3.', tokens: { input: 200, output: 20 }, turns: 2 })
      expect(outcome.apiDurationMs).toBeGreaterThan(0)
      expect(outcome.costUsd).toBeCloseTo(2 * (100 * 3e-6 + 10 * 15e-6), 9)
      expect(sessionIds(events).size).toBe(2)
      await session.close()
    })

    test('a background command does not report into the next conversation', async () => {
      const { session, calls, events, exists } = await stage.open()
      await session.ask(use(['Bash', { command: 'sleep 2; touch late.txt', run_in_background: true }]))
      await session.clear()
      const asked = calls.length
      await sleep(3_000)
      expect(calls.length).toBe(asked)
      expect(exists('late.txt')).toBe(false)
      expect(await session.ask('hello')).toMatchObject({ finalText: `Answer ${asked + 1}.` })
      expect(events.filter(({ event }) => event === 'error')).toEqual([])
      await session.close()
    })

    test('recalled messages come before the prompt, in order, without a call', async () => {
      const { session, calls } = await stage.open()
      await session.recall([
        { role: 'user', content: 'RECALLED one' },
        { role: 'assistant', content: 'RECALLED two' },
        { role: 'user', content: 'RECALLED three' },
        { role: 'assistant', content: 'RECALLED four' },
      ])
      expect(calls).toEqual([])
      await session.ask('and now')
      expect(dialogue(calls)).toEqual([
        ['user', 'RECALLED one'],
        ['assistant', 'RECALLED two'],
        ['user', 'RECALLED three'],
        ['assistant', 'RECALLED four'],
        ['user', 'and now'],
      ])
      await session.clear()
      await session.recall([{ role: 'assistant', content: 'RECALLED five' }])
      await session.ask('and then')
      expect(
        dialogue(calls)
          .map(([, text]) => text)
          .slice(-2),
      ).toEqual(['RECALLED five', 'and then'])
      expect(JSON.stringify(calls.at(-1))).not.toContain('RECALLED one')
      await session.close()
    })

    test('a prompt that hangs is interrupted at its time limit, and the session continues', async () => {
      const { session, pid, read } = await stage.open({ files: keeper })
      expect(await session.ask('please HANG', { timeoutMs: 3_000, interruptGraceMs: 20_000 })).toMatchObject({
        ending: 'timed_out',
        exitCode: null,
        finalText: null,
        failure: null,
      })
      const inTool = await session.ask(use(['Bash', { command: 'sh ./keep.sh' }]), {
        timeoutMs: 2_000,
        interruptGraceMs: 20_000,
      })
      expect(inTool).toMatchObject({ ending: 'timed_out', tokens: { input: 100 } })
      expect(session.isAlive()).toBe(true)
      expect(await session.ask('again')).toMatchObject({ ending: 'exited', finalText: 'Answer 3.' })
      await session.close()
      expect([isAlive(pid), isAlive(Number(read('pid')))]).toEqual([false, false])
    })

    test('a subagent in the background is stopped with the prompt that began it', async () => {
      const { session, calls } = await stage.open({ files: plugin, config: { plugins: ['./demo'] } })
      const input = {
        description: 'd',
        prompt: 'HANG',
        subagent_type: 'demo:reviewer',
        run_in_background: true,
      }
      const outcome = await session.ask(use(['Agent', input]), { timeoutMs: 4_000, interruptGraceMs: 20_000 })
      expect(outcome.ending).toBe('timed_out')
      expect(session.isAlive()).toBe(true)
      const asked = calls.length
      expect(await session.ask('next')).toMatchObject({ ending: 'exited', finalText: `Answer ${asked + 1}.` })
      await session.close()
    })

    test('turns are limited for a prompt and for the session, and both continue', async () => {
      const own = await stage.open()
      expect(await own.session.ask('ENDLESS', { maxTurns: 2 })).toMatchObject({
        ending: 'over_turns',
        failure: null,
      })
      await own.session.clear()
      expect(await own.session.ask('hello', { maxTurns: 2 })).toMatchObject({ ending: 'exited' })
      await own.session.close()
      const all = await stage.open({ request: { maxTurns: 2 } })
      expect(await all.session.ask('ENDLESS')).toMatchObject({ ending: 'over_turns', failure: null })
      expect(all.calls.length).toBe(2)
      await all.session.clear()
      expect(await all.session.ask('hello')).toMatchObject({ ending: 'exited', finalText: 'Answer 3.' })
      await all.session.close()
    })

    test('what its own tools did to files is undone', async () => {
      const { session, read, exists, workspace } = await stage.open({
        files: { 'workspace/kept.txt': 'before\n' },
      })
      await session.ask(use(['Read', { file_path: `${workspace}/kept.txt` }]))
      await session.ask(
        use(
          ['Write', { file_path: `${workspace}/made.txt`, content: 'new' }],
          ['Edit', { file_path: `${workspace}/kept.txt`, old_string: 'before', new_string: 'after' }],
        ),
      )
      expect([read('made.txt'), read('kept.txt')]).toEqual(['new', 'after\n'])
      expect(await session.rewind()).toEqual({ kind: 'rewound' })
      expect([exists('made.txt'), read('kept.txt')]).toEqual([false, 'before\n'])
      await session.clear()
      expect(await session.rewind()).toMatchObject({ kind: 'refused' })
      await session.close()
    })

    test('hooks are seen with their exact inputs, also those of a subagent and of a command', async () => {
      const { session, hooks } = await stage.open({ files: plugin, config: { plugins: ['./demo'] } })
      const inner = use(['Bash', { command: 'echo inside', description: 'inner' }])
      const agent = {
        description: 'd',
        prompt: inner,
        subagent_type: 'demo:reviewer',
        run_in_background: false,
      }
      await session.ask(use(['Agent', agent]))
      const seen = (event: string) => hooks.filter((hook) => hook.event === event).map(({ input }) => input)
      const [outer, inside] = seen('PreToolUse')
      expect(outer).toMatchObject({ tool_name: 'Agent', tool_input: agent, hook_event_name: 'PreToolUse' })
      expect(outer).not.toHaveProperty('agent_id')
      expect(inside).toMatchObject({
        tool_name: 'Bash',
        tool_input: { command: 'echo inside', description: 'inner' },
        agent_type: 'demo:reviewer',
        agent_id: expect.any(String),
      })
      expect(seen('SubagentStart')).toMatchObject([{ agent_type: 'demo:reviewer' }])
      expect(seen('SubagentStop')).toMatchObject([{ agent_type: 'demo:reviewer' }])
      expect(seen('PostToolUse').map(({ tool_name }) => tool_name)).toEqual(['Bash', 'Agent'])
      expect(seen('Stop')).toMatchObject([{ stop_hook_active: false }])
      expect(seen('UserPromptSubmit')).toMatchObject([{ prompt: use(['Agent', agent]) }])

      await session.clear()
      hooks.length = 0
      await session.ask('/demo:hi Bob')
      await session.ask('/demo:deploy:staging now')
      await session.ask('/demo:unknown x')
      expect(seen('UserPromptExpansion')).toMatchObject([
        {
          expansion_type: 'slash_command',
          command_name: 'demo:hi',
          command_args: 'Bob',
          command_source: 'plugin',
        },
        { command_name: 'demo:deploy:staging', command_args: 'now' },
      ])
      hooks.length = 0
      await session.ask(use(['Bash', { command: 'exit 3' }], ['Skill', { skill: 'demo:greet' }]))
      expect(seen('PostToolUseFailure')).toMatchObject([
        { tool_name: 'Bash', tool_input: { command: 'exit 3' } },
      ])
      expect(seen('PreToolUse')).toContainEqual(
        expect.objectContaining({ tool_input: { skill: 'demo:greet' } }),
      )
      const now = Date.now()
      for (const { timestamp } of hooks) expect(Math.abs(now - timestamp)).toBeLessThan(3_600_000)
      await session.close()
    })

    test("Gantry's hooks decide what it may do, and add context", async () => {
      const refusals = ['NOT YET: the tests are red']
      const { session, events, exists, calls } = await stage.open({
        request: {
          hooks: {
            begin: async () => 'FACT: the moon is cheese',
            beforeTool: async ({ input }) =>
              JSON.stringify(input).includes('forbidden.txt')
                ? { kind: 'deny', reason: 'not this file' }
                : { kind: 'allow' },
            afterTool: async ({ exitCode }) => `SEEN: exit code ${exitCode}`,
            beforeStop: async () => {
              const reason = refusals.pop()
              return reason === undefined ? { kind: 'allow' } : { kind: 'refuse', reason }
            },
          },
        },
      })
      await session.ask(
        use(['Bash', { command: 'touch forbidden.txt' }], ['Bash', { command: 'touch fine.txt' }]),
      )
      expect([exists('forbidden.txt'), exists('fine.txt')]).toEqual([false, true])
      const known = JSON.stringify(calls.at(-1))
      for (const words of ['the moon is cheese', 'SEEN: exit code 0', 'NOT YET: the tests are red'])
        expect(known).toContain(words)
      expect(events).toContainEqual(
        expect.objectContaining({ event: 'tool_result', output: expect.stringContaining('not this file') }),
      )
      await session.clear()
      await session.ask('hello')
      expect(JSON.stringify(calls.at(-1))).toContain('the moon is cheese')
      await session.close()
    })

    test('a process that is killed during a prompt counts as crashed, and its children are ended', async () => {
      const { session, pid, read, exists, events } = await stage.open({ files: keeper })
      await session.ask('hello')
      const working = session.ask(use(['Bash', { command: 'sh ./keep.sh' }]))
      while (!exists('pid')) await sleep(20)
      process.kill(pid, 'SIGKILL')
      expect(await working).toMatchObject({
        ending: 'crashed',
        exitCode: null,
        failure: { reason: 'unavailable', message: expect.stringContaining('SIGKILL') },
      })
      expect(session.isAlive()).toBe(false)
      expect((await session.ask('more')).failure?.reason).toBe('unavailable')
      await session.close()
      expect([isAlive(pid), isAlive(Number(read('pid')))]).toEqual([false, false])
      expect(events.at(-1)).toMatchObject({ event: 'complete', ending: 'crashed' })
    })

    test('a failing model is reported for its prompt only', async () => {
      const { session } = await stage.open()
      expect(await session.ask('please FAIL')).toMatchObject({ exitCode: 1, failure: { reason: 'auth' } })
      await session.clear()
      expect(await session.ask('hello')).toMatchObject({ exitCode: 0, failure: null })
      await session.close()
    })

    test('a denied permission is reported for its own prompt', async () => {
      const { session, exists } = await stage.open({ config: { permission_mode: 'default' } })
      const outcome = await session.ask(use(['Bash', { command: 'touch made.txt' }]))
      expect(outcome).toMatchObject({ ending: 'exited', deniedTools: ['Bash'] })
      expect(exists('made.txt')).toBe(false)
      expect(await session.ask('hello')).toMatchObject({ deniedTools: [] })
      await session.close()
    })

    test('cost is limited for the whole session, also after clearing', async () => {
      const { session } = await stage.open({ request: { maxCostUsd: 0.0007 } })
      expect(await session.ask('one')).toMatchObject({ ending: 'exited' })
      await session.clear()
      expect(await session.ask('two')).toMatchObject({ ending: 'over_budget', failure: null })
      expect(session.isAlive()).toBe(false)
      await session.close()
    })

    test('no lookup left the machine', () => {
      const lookups = inject('lookups')
      if (lookups === null) return
      expect([...new Set(readFileSync(lookups, 'utf8').split('\n').filter(Boolean))]).toEqual([])
    })
  })
}

function lastWords(calls: readonly ModelCall[]): string {
  return calls.at(-1)?.messages.findLast(({ role }) => role === 'user')?.text ?? ''
}

/** What was said, without what Claude Code puts around it. */
function dialogue(calls: readonly ModelCall[]): readonly (readonly [string, string])[] {
  return (calls.at(-1)?.messages ?? [])
    .filter(({ role }) => role !== 'system')
    .map(({ role, text }) => [role, text.split('\n').findLast((line) => line.trim() !== '') ?? ''])
}

function sessionIds(events: readonly { readonly event: string; readonly session_id?: unknown }[]) {
  return new Set(events.flatMap(({ event, session_id }) => (event === 'session' ? [session_id] : [])))
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}

const server = `
import { createInterface } from 'node:readline'
const send = (line) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...line }) + '\\n')
const tools = [{ name: 'forecast', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } }]
createInterface({ input: process.stdin }).on('line', (text) => {
  const { id, method, params } = JSON.parse(text)
  if (id === undefined) return
  if (method === 'initialize')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'w', version: '1' } } })
  else send({ id, result: method === 'tools/list' ? { tools } : { content: [{ type: 'text', text: 'sunny' }] } })
})
`

/** Writes its pid for the test and sleeps for longer than any test waits. */
const keeper = { 'workspace/keep.sh': 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 300\n' }

/** A plugin with one of each. */
const plugin = {
  'demo/.claude-plugin/plugin.json': '{"name":"demo","version":"1.0.0","description":"Demo"}',
  'demo/skills/greet/SKILL.md': '---\nname: greet\ndescription: Use to greet somebody\n---\nSay hello.\n',
  'demo/agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews code\n---\nYou review.\n',
  'demo/commands/hi.md': '---\ndescription: Says hi\n---\nSay hi to $ARGUMENTS\n',
  'demo/commands/deploy/staging.md': '---\ndescription: Deploys\n---\nDeploy to staging $ARGUMENTS\n',
  'demo/server.mjs': server,
  'demo/.mcp.json': JSON.stringify({
    mcpServers: {
      weather: { command: process.execPath, args: ['${' + 'CLAUDE_PLUGIN_ROOT}/server.mjs'] },
      broken: { command: 'sh', args: ['-c', 'exit 3'] },
    },
  }),
}
