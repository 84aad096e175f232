import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { GantryError } from '../../core/error.ts'
import { scriptSchema } from './schema.ts'
import { createScriptedAgent } from './scripted.ts'

test('a script is found next to the configuration and reports its version', async () => {
  await using fixture = await createFixture({
    'agents/s.yaml': 'name: s\nversion: "7"\nturns:\n  - say: hi\n',
  })
  const probe = await agent('agents/s.yaml', fixture.path).probe({ env: {} })
  expect(probe).toMatchObject({ found: true, version: '7' })
})

test('a broken script is an error of its author, with file and line', async () => {
  await using fixture = await createFixture({ 's.yaml': 'name: s\nturns:\n  - sya: hi\n' })
  const failed = await agent('s.yaml', fixture.path)
    .probe({ env: {} })
    .catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(GantryError)
  expect(failed).toMatchObject({ code: 'INVALID_FILE', at: { file: fixture.getPath('s.yaml'), line: 3 } })
})

test('the probed script is played, even if the file changes', async () => {
  await using fixture = await createFixture({ 's.yaml': 'name: s\nturns:\n  - say: old\n' })
  const driver = agent('s.yaml', fixture.path)
  const { fingerprint } = await driver.probe({ env: {} })
  await fixture.writeFile('s.yaml', 'name: s\nturns:\n  - say: new\n')
  expect((await driver.probe({ env: {} })).fingerprint).toBe(fingerprint)
  const outcome = await driver.run({
    prompt: '',
    workspace: fixture.path,
    model: 'default',
    env: {},
    timeoutMs: 1_000,
    signal: new AbortController().signal,
    emit: () => {},
    transcript: () => {},
  })
  expect(outcome.finalText).toBe('old')
})

test.each([
  [{ turns: [{}] }, /needs an action/],
  [{ turns: [{ say: 'a', run: 'b' }] }, /one action, this one has say and run/],
  [{ turns: [{ say: 'a', timeout: '1s' }] }, /timeout is only allowed with run/],
  [{ turns: [{ say: 'a', ignore_sigterm: true }] }, /ignore_sigterm is only allowed with hang/],
  [{ turns: [{ wait: '5' }] }, /not a duration/],
  [{ turns: [{ crash: {} }] }, /either signal or exit/],
  [{ turns: [{ crash: { signal: 'SIGSEGV', exit: 1 } }] }, /either signal or exit/],
  [{ turns: [{ usage: { cost_usd: -1 } }] }, /cost_usd|Too small/],
  [{ turns: [{ edit: { path: 'a', old: '', new: '' } }] }, /Too small/],
])('%j is refused', (script, message) => {
  const result = scriptSchema.safeParse({ name: 's', ...script })
  expect(result.error?.message).toMatch(message)
})

function agent(script: string, base: string) {
  return createScriptedAgent({ name: 's', config: { driver: 'scripted', script, models: [] }, base })
}
