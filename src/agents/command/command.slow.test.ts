import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, describe, expect, test } from 'vitest'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import type { AgentRequest } from '../contract.ts'
import { createCommandAgent } from './command.ts'
import { commandAgentSchema } from './schema.ts'

const fixtures: FsFixture[] = []
afterAll(async () => {
  for (const fixture of fixtures) await fixture.rm()
})

describe.concurrent('a command agent', () => {
  test('finds its scripts next to the configuration although it works in the workspace', async () => {
    const script = '#!/bin/sh\npwd; echo "$@"\n'
    const files = { 'agent.sh': script, 'bin/agent': script }
    for (const command of [['sh', './agent.sh'], ['./agent.sh'], ['bin/agent']]) {
      const { outcome, workspace } = await play([...command, './src', '{prompt}'], { files })
      expect(outcome.finalText).toBe(`${workspace}\n./src ./do it`)
    }
  })

  test('fills exactly four placeholders, once, also inside words', async () => {
    const { outcome, workspace } = await play(
      [
        'sh',
        '-c',
        'printf "%s\\n" "$@"',
        'sh',
        '--model={model}',
        '{workspace}/x',
        '{prompt}',
        '{other}',
        '{}',
      ],
      { prompt: '{model} {prompt}', model: 'big' },
    )
    expect(outcome.finalText).toBe(
      ['--model=big', `${workspace}/x`, '{model} {prompt}', '{other}', '{}'].join('\n'),
    )
  })

  test('gets the prompt in a private file outside the workspace, which is removed afterwards', async () => {
    const { outcome, workspace, temporary } = await play([
      'sh',
      '-c',
      'stat -c %a "$(dirname "$1")" "$1"; echo "$1"; ls; cat "$1"',
      'sh',
      '{prompt_file}',
    ])
    const [directoryMode, fileMode, path, ...rest] = outcome.finalText?.split('\n') ?? []
    expect([directoryMode, fileMode, rest.join('\n')]).toEqual(['700', '600', './do it'])
    expect(path?.startsWith(`${temporary}/`)).toBe(true)
    expect(readdirSync(temporary)).toEqual([])
    expect(readdirSync(workspace)).toEqual([])
  })

  test('gets its prompt file elsewhere when its TMPDIR is in the workspace', async () => {
    const { outcome, workspace } = await play(['sh', '-c', 'echo "$1"', 'sh', '{prompt_file}'], {
      env: (place) => ({ TMPDIR: join(place, 'tmp') }),
    })
    expect(outcome.finalText?.startsWith(workspace)).toBe(false)
  })

  test('runs once, also when it times out', async () => {
    const { outcome, workspace } = await play(['sh', '-c', 'echo ran >> runs.txt; exec sleep 300'], {
      timeoutMs: 300,
    })
    expect(outcome.ending).toBe('timed_out')
    expect(readFileSync(join(workspace, 'runs.txt'), 'utf8')).toBe('ran\n')
  })

  test('shows stderr in the transcript and as a separate output stream', async () => {
    const { events, transcript, outcome } = await play(['sh', '-c', 'echo out; echo err >&2'])
    expect(events).toContainEqual({ event: 'output', text: 'err\n', stream: 'stderr' })
    expect(events).toContainEqual({ event: 'output', text: 'out\n', stream: 'stdout' })
    expect(transcript).toContain('err\n')
    expect(outcome.finalText).toBe('out')
  })

  test('keeps characters whole that its pipe split', async () => {
    const { events } = await play([
      'sh',
      '-c',
      "printf '\\346'; sleep 0.1; printf '\\274\\242'; printf '\\377'",
    ])
    const text = events.flatMap((event) => (event.event === 'output' ? [event.text] : [])).join('')
    expect(text).toBe('漢\uFFFD')
  })

  test.each(['events', 'claude-stream-json', 'codex-json'])('survives garbage as %s', async (output) => {
    const garbage = 'not json\r\n{"cut": \n\n[1]\n{"type":"item.completed"}\n\\0\\377\\376\nlast without end'
    const { outcome, events } = await play(
      ['sh', '-c', `printf '${garbage}'; head -c 1000000 /dev/zero | tr '\\0' x`],
      {
        config: { output },
      },
    )
    expect(outcome).toMatchObject({
      ending: 'exited',
      exitCode: 0,
      failure: null,
      costUsd: null,
      tokens: null,
    })
    const raw = events.flatMap((event) => (event.event === 'raw' ? [event.line] : []))
    expect(raw.length).toBe(6)
    expect(raw[0]).toBe('not json')
    expect(raw.at(-1)?.length).toBe(1_000_000 + 'last without end'.length)
  })

  test('a budget exceeded by its last output is exceeded, although it has exited by itself', async () => {
    const line = JSON.stringify({ type: 'result', subtype: 'success', total_cost_usd: 2, is_error: false })
    const { outcome } = await play(['printf', '%s', line], {
      config: { output: 'claude-stream-json' },
      maxCostUsd: 1,
    })
    expect(outcome).toMatchObject({ ending: 'over_budget', costUsd: 2, exitCode: null })
  })

  test('waiting for its model until the time limit is an infrastructure failure', async () => {
    const retry = JSON.stringify({
      type: 'system',
      subtype: 'api_retry',
      error_status: 529,
      error: 'overloaded',
    })
    const { outcome } = await play(['sh', '-c', `echo '${retry}'; exec sleep 300`], {
      config: { output: 'claude-stream-json' },
      timeoutMs: 300,
    })
    expect(outcome).toMatchObject({ ending: 'timed_out', failure: { reason: 'overloaded' } })
  })

  test('a prompt that does not fit on a command line fails with a hint', async () => {
    const long = await play(['true', '{prompt}'], { prompt: 'x'.repeat(200_000) })
    expect(long.outcome).toMatchObject({
      ending: 'not_started',
      failure: { message: expect.stringContaining('prompt: file') },
    })
    const nul = await play(['true', '{prompt}'], { prompt: 'a\0b' })
    expect(nul.outcome).toMatchObject({
      ending: 'not_started',
      failure: { message: expect.stringContaining('NUL') },
    })
  })

  test('a prompt of several megabytes goes through stdin, also when the program does not read it', async () => {
    const prompt = 'x'.repeat(5_000_000)
    expect((await play(['wc', '-c'], { prompt })).outcome.finalText).toBe('5000000')
    expect((await play(['true'], { prompt })).outcome).toMatchObject({ ending: 'exited', exitCode: 0 })
  })

  test.each([
    ['no such program', ['gantry-no-such-program']],
    ['a file that is not executable', ['./plain.txt']],
    ['a missing interpreter', ['./broken.sh']],
  ])('%s did not start, with the reason', async (_, command) => {
    const files = { 'plain.txt': 'x', 'broken.sh': '#!/no/such/interpreter\n' }
    const { outcome, events } = await play(command, { files, executable: ['broken.sh'] })
    expect(outcome.ending).toBe('not_started')
    expect(outcome.failure?.message).toMatch(/^agent mine: cannot start/)
    expect(events.map(({ event }) => event)).toEqual(['spawn', 'complete'])
  })
})

describe.concurrent('a command agent with pty', () => {
  const config = { pty: true }

  test('has a terminal on all three streams, with the documented size', async () => {
    const { outcome, events } = await play(
      [
        'sh',
        '-c',
        'test -t 0 && test -t 1 && test -t 2 && stty size; printf "%s" "$1"; echo err >&2',
        'sh',
        '{prompt}',
      ],
      { config, prompt: 'it\'s "quoted"' },
    )
    expect(outcome).toMatchObject({ ending: 'exited', exitCode: 0, finalText: '24 80\r\nit\'s "quoted"err' })
    expect(outcome).not.toHaveProperty('warnings')
    expect(events[0]).toMatchObject({ event: 'spawn', command: 'sh' })
  })

  test('reads structured lines through the terminal', async () => {
    const line = JSON.stringify({ event: 'message', text: 'hi 漢字' })
    const { outcome } = await play(['printf', '%s\\n', line, '{prompt}'], {
      config: { ...config, output: 'events' },
    })
    expect(outcome.finalText).toBe('hi 漢字')
  })

  test('distinguishes exit codes, crashes and missing programs', async () => {
    const end = async (command: readonly string[]) =>
      (await play([...command, '{prompt}'], { config })).outcome
    expect(await end(['sh', '-c', 'exit 3'])).toMatchObject({ ending: 'exited', exitCode: 3 })
    expect(await end(['sh', '-c', 'kill -KILL $$'])).toMatchObject({ ending: 'crashed', exitCode: null })
    expect(await end(['gantry-no-such-program'])).toMatchObject({ ending: 'not_started' })
  })

  test('is stopped at its time limit and runs once', async () => {
    const command = ['sh', '-c', 'echo ran >> runs.txt; exec sleep 300', 'sh', '{prompt}']
    const { outcome, workspace } = await play(command, { config, timeoutMs: 300 })
    expect(outcome.ending).toBe('timed_out')
    expect(readFileSync(join(workspace, 'runs.txt'), 'utf8')).toBe('ran\n')
  })

  test('falls back to pipes, with a warning, without a terminal', async () => {
    const { outcome } = await play(['/bin/sh', '-c', 'test -t 1 || echo pipe', 'sh', '{prompt}'], {
      config,
      env: (place) => ({ PATH: place }),
    })
    expect(outcome).toMatchObject({
      finalText: 'pipe',
      warnings: [expect.stringContaining('ran with pipes')],
    })
  })
})

interface Settings extends Partial<Omit<AgentRequest, 'env'>> {
  readonly config?: object
  readonly files?: Record<string, string>
  readonly executable?: readonly string[]
  readonly env?: (workspace: string) => Record<string, string>
}

async function play(
  command: readonly string[],
  { config, files, executable, env, ...request }: Settings = {},
) {
  const fixture = await createFixture(files ?? {})
  fixtures.push(fixture)
  const [base, workspace, temporary] = [fixture.path, fixture.getPath('workspace'), fixture.getPath('tmp')]
  for (const path of [workspace, temporary]) mkdirSync(path)
  for (const path of executable ?? Object.keys(files ?? {}).filter((name) => /agent/.test(name))) {
    chmodSync(join(base, path), 0o755)
  }
  const events: Untimed<AgentEvent>[] = []
  const chunks: Uint8Array[] = []
  const parsed = commandAgentSchema.parse({ driver: 'command', command, ...config })
  const outcome = await createCommandAgent({ name: 'mine', config: parsed, base }).run({
    prompt: './do it',
    workspace,
    model: 'default',
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    transcript: (chunk) => chunks.push(chunk),
    ...request,
    env: { PATH: process.env.PATH ?? '', TMPDIR: temporary, ...env?.(workspace) },
  })
  return { outcome, events, workspace, temporary, transcript: Buffer.concat(chunks).toString('utf8') }
}
