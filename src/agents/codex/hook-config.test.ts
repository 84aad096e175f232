import { expect, test } from 'vitest'
import { codexSandbox } from './hook-config.ts'

const place = { root: '/p', home: '/h', env: {} }
const files = ['.env', 'a "b"/server.key']

test.each([
  ['no file', null],
  ['keys', 'model = "x"\n'],
  ['keys and tables', 'model = "x"\n\n[tui]\ntheme = "dark"\n'],
  ['a last line without an end', '[tui]\ntheme = "dark"'],
])('with %s, protected files become read-only, and everything else is kept', (_name, text) => {
  const installed = codexSandbox.install(text, files)
  expect(codexSandbox.readOnlyIn(installed)).toEqual(files)
  expect(installed.startsWith('default_permissions = "gantry-guard"')).toBe(true)
  expect(installed).toContain('extends = ":workspace"\n')
  expect(codexSandbox.install(installed, files)).toBe(installed)
  expect(codexSandbox.readOnlyIn(codexSandbox.install(installed, ['.env']))).toEqual(['.env'])
  const rest = codexSandbox.uninstall(installed)
  expect(rest).toBe(text === null || text.endsWith('\n') ? text : `${text}\n`)
})

test('tables that a person adds after ours are kept', () => {
  const installed = `${codexSandbox.install(null, files)}\n[tui]\ntheme = "dark"\n`
  expect(codexSandbox.uninstall(installed)).toBe('[tui]\ntheme = "dark"\n')
  expect(codexSandbox.readOnlyIn(installed)).toEqual(files)
})

test('a setting of the user about the sandbox decides, in any file and any profile, and ours does not count as one', () => {
  const why = (text: string) =>
    codexSandbox.overruled([
      { path: codexSandbox.file(place), text },
      { path: '/h/.codex/config.toml', text: null },
    ])
  expect(why('sandbox_mode = "read-only"\n')).toContain('sandbox_mode in /p/.codex/config.toml')
  expect(why('[profiles.x]\nsandbox_mode = "read-only"\n')).toContain('sandbox_mode')
  expect(why('default_permissions = "mine"\n')).toContain('default_permissions')
  expect(why('# sandbox_mode = "read-only"\n')).toBeNull()
  expect(why(codexSandbox.install('model = "x"\n', files))).toBeNull()
})
