import { describe, expect, test } from 'vitest'
import { runGantry } from '../robustness/lab.ts'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { makeProject, smallProject } from '../support/project.ts'
import { client, linesOf, modelScript, startBoundary } from './lab.ts'

const scripted = (more: Record<string, unknown> = {}) =>
  makeProject({ 'model.yaml': { ...modelScript('Hello.'), ...more } })
const serve = ['boundary', 'serve', '--script', 'model.yaml', '--json']
const asking = (times: number, ...more: string[]) =>
  client('--times', String(times), '--ignore-errors', ...more, 'hi')

/** What happened to each call: the fault, or the status. */
async function played(project: ReturnType<typeof scripted>, argv: readonly string[]) {
  const ran = await runGantry(project, [...serve, ...argv])
  const calls = linesOf(ran).filter(({ kind }) => kind === 'exchange')
  return { ...ran, calls, fates: calls.map(({ fault, status }) => fault ?? status) }
}

test.each([
  [['--fault', '429'], 'no fault was injected'],
  [['--replay', 'record'], 'nothing was recorded'],
])('%j for an agent that calls no model is a warning', async (flags, missed) => {
  const agents = { worker: { driver: 'command', command: ['sh', '-c', 'echo x > done.txt'] } }
  using project = smallProject({ config: { agents } })
  const { verdict, warnings } = onlyTrial(await gantryTest(project, ['--agent', 'worker', ...flags]))
  expect(verdict).toBe('pass')
  expect(warnings.join()).toContain(`the agent sent no request to a model, so ${missed}`)
})

describe('faults', () => {
  test('by schedule break exactly these calls', async () => {
    using project = scripted()
    const argv = [
      '--fault',
      '429@0:7',
      '--fault',
      'cut@2',
      '--fault',
      '500@3',
      '--',
      ...asking(5, '--stream'),
    ]
    const { fates, stderr, calls } = await played(project, argv)
    expect(fates).toEqual(['status', 200, 'cut', 'status', 200])
    expect(calls.map(({ status }) => status)).toEqual([429, 200, 200, 500, 200])
    expect(stderr).toContain('status 429: {"type":"error","error":{"type":"rate_limit_error"')
    expect(stderr).toContain('"api_error"')
    expect(stderr.match(/Hello\./g)?.length).toBe(2)
  })

  test('by probability strike the same calls again with the same seed, and others with another', async () => {
    using project = scripted()
    const fates = async (seed: string) =>
      (await played(project, ['--fault', '529%50', '--seed', seed, '--', ...asking(20)])).fates.join()
    const [first, again, other] = [await fates('3'), await fates('3'), await fates('4')]
    expect(first).toContain('status')
    expect(first).toContain('200')
    expect(again).toBe(first)
    expect(other).not.toBe(first)
  })

  test('of a script apply without a flag, with the seed of the flag', async () => {
    using project = scripted({ faults: [{ fault: 'server_error', probability: 0.5 }] })
    const fates = async (...flags: string[]) => (await played(project, [...flags, '--', ...asking(20)])).fates
    const first = await fates()
    expect(first).toContain('status')
    expect(await fates('--seed', '0')).toEqual(first)
    expect(await fates('--seed', '5')).not.toEqual(first)
  })

  test.each([
    ['429@', "'429@' is not a valid fault: expected FAULT[WHEN][:AMOUNT]"],
    ['boom', "'boom' is not a valid fault"],
    ['200', "'200' is not a valid fault"],
    ['wrong_content_type:3', 'takes no amount'],
    ['529%200', "'529%200' is not a valid fault"],
  ])('%s is refused with an example', async (fault, message) => {
    using project = scripted()
    const { code, stderr, stdout } = await gantry(project, [...serve, '--fault', fault, '--', 'true'])
    expect(code).toBe(2)
    expect(stderr).toContain(message)
    expect(stderr).toContain('Write for example 429@0')
    expect(stdout).toBe('')
  })

  test('a seed without any fault is bad usage', async () => {
    using project = scripted()
    const { code, stderr } = await gantry(project, [...serve, '--seed', '1', '--', 'true'])
    expect(code).toBe(2)
    expect(stderr).toContain('--seed has no effect without a fault')
  })
})

describe('the cap', () => {
  test('refuses calls once it is reached, lets the program continue, and makes it fail', async () => {
    using project = scripted()
    // One call costs $0.003 at $2 and $10 for a million tokens, and may cost $0.01 with the 1,000 it asks for.
    const argv = ['--max-cost-usd', '0.02', '--', ...asking(10)]
    const { code, calls, stderr, stdout } = await played(project, argv)
    const refused = calls.filter(({ by }) => by === 'refused')
    expect(calls.length).toBe(10)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(8)
    expect(refused[0]).toMatchObject({ status: 402, tokens: null, costUsd: null })
    expect(stderr).toContain('status 402')
    expect(linesOf({ stdout }).at(-1)).toMatchObject({ refused: refused.length, exitCode: 0 })
    expect(code).toBe(1)
  })

  test('prints a warning', async () => {
    using project = scripted()
    const argv = [
      'boundary',
      'serve',
      '--script',
      'model.yaml',
      '--max-cost-usd',
      '0.0001',
      '--',
      ...asking(2),
    ]
    const { code, stderr } = await runGantry(project, argv)
    expect(stderr).toContain('The cap was reached: 2 calls refused.')
    expect(code).toBe(1)
  })

  test('does not end a server that other programs may still use', async () => {
    using project = scripted()
    const server = await startBoundary(project, [
      'serve',
      '--script',
      'model.yaml',
      '--max-cost-usd',
      '0.0001',
    ])
    const ask = () =>
      fetch(`${server.url}/v1/messages`, {
        method: 'POST',
        body: '{"model":"claude-sonnet-5","messages":[{"role":"user","content":"hi"}]}',
      })
    expect([(await ask()).status, (await ask()).status]).toEqual([402, 402])
    expect((await server.interrupt()).code).toBe(1)
  })
})

describe('the bill', () => {
  test('calls a model without a known price unmetered, never free', async () => {
    using project = scripted()
    const argv = [
      'boundary',
      'serve',
      '--script',
      'model.yaml',
      '--',
      ...asking(1, '--model', 'my-own-model'),
    ]
    const { stderr } = await runGantry(project, argv)
    expect(stderr).toMatch(/#1 .* unmetered, \d+ ms/)
    expect(stderr).toContain(
      'my-own-model: 1 call, 1,000 tokens in, 100 out, unmetered: its price is not known',
    )
    const { calls } = await played(project, ['--', ...asking(1, '--model', 'my-own-model')])
    expect(calls).toMatchObject([{ costUsd: null }])
  })

  test('takes its prices from gantry.yaml, or from another file', async () => {
    using project = scripted()
    const prices = (input: number) => ({
      models: { 'my-own-model': { input_usd_per_mtok: input, output_usd_per_mtok: 0 } },
    })
    project.write({ 'gantry.yaml': prices(1_000), 'other.yaml': prices(2_000) })
    const asked = asking(1, '--model', 'my-own-model')
    expect((await played(project, ['--', ...asked])).calls).toMatchObject([{ costUsd: 1 }])
    expect((await played(project, ['--config', 'other.yaml', '--', ...asked])).calls).toMatchObject([
      { costUsd: 2 },
    ])
  })

  test('cannot be forged by the name of a model that writes to the terminal', async () => {
    using project = scripted()
    const argv = [
      'boundary',
      'serve',
      '--script',
      'model.yaml',
      '--',
      ...asking(1, '--model', 'a\u001b[2Jb\nc'),
    ]
    const { stderr } = await runGantry(project, argv)
    expect(stderr).not.toContain('\u001b')
    expect(stderr).toContain('ab c')
  })
})

describe('a script', () => {
  test.each([
    ['turns: []\n', 'model.yaml:1:8'],
    ['turns:\n  - text: a\n    txt: b\n', 'model.yaml:3:5'],
    ['turns:\n  - text: [\n', 'model.yaml:'],
    ['turns:\n  - calls:\n      - { run: ls, read: { path: a } }\n', 'model.yaml:3:'],
  ])('with a mistake is refused with its place: %j', async (text, place) => {
    using project = makeProject({ 'model.yaml': text })
    const { code, stderr } = await gantry(project, [...serve, '--', 'true'])
    expect(code).toBe(2)
    expect(stderr).toContain(place)
  })

  test('that is not there is named', async () => {
    using project = makeProject()
    const { code, stderr } = await gantry(project, [...serve, '--', 'true'])
    expect(code).toBe(2)
    expect(stderr).toContain('model.yaml')
  })
})
