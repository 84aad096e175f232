import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { needs } from '../../../test/support/needs.ts'
import { writePrivateProgram } from '../../io/private-files.ts'
import { kernelShell, prepareKernel, probeKernel } from './kernel-layer.ts'
import type { KnownFile } from './protected-index.ts'
import { shellPrefixName, shellPrefixText } from './shell-prefix.ts'

async function lab() {
  const fixture = await createFixture({ 'app/ordinary.txt': 'old\n' })
  const top = realpathSync(fixture.path)
  const [root, guardHome] = [join(top, 'app'), join(top, 'guard')]
  const prefix = join(guardHome, 'bin', shellPrefixName)
  mkdirSync(join(guardHome, 'kernel'), { recursive: true })
  const program = ['/bin/echo', 'verified by']
  writePrivateProgram(prefix, shellPrefixText({ guardHome, gantry: program }))
  return {
    [Symbol.asyncDispose]: () => fixture.rm(),
    root,
    guardHome,
    prefix,
    run(command: string, session = 's1') {
      const env = { PATH: '/usr/bin:/bin', HOME: top, CLAUDE_CODE_SESSION_ID: session }
      const { stdout, stderr } = spawnSync(prefix, [command], { cwd: root, env, encoding: 'utf8' })
      return { stdout, stderr }
    },
  }
}

const works = (await probeKernel()).kind === 'works'

async function protect(here: Awaited<ReturnType<typeof lab>>, names: readonly string[]): Promise<void> {
  for (const name of names) writeFileSync(join(here.root, name), 'kept\n')
  const known = {
    kind: 'file',
    pattern: '*',
    isCopied: true,
    mark: '',
    mode: 0o600,
    hash: '',
  } satisfies KnownFile
  const files = Object.fromEntries(names.map((name) => [join(here.root, name), known]))
  const why = await prepareKernel({
    root: here.root,
    home: here.root,
    guardHome: here.guardHome,
    session: 's1',
    agent: 'claude-code',
    env: { CLAUDE_CODE_SHELL_PREFIX: here.prefix },
    index: { patterns: '', directories: {}, files, isPartial: false },
    own: [here.guardHome, join(here.root, 'missing.json')],
    anew: true,
  })
  expect(why).toBeNull()
}

needs('kernel layer', works)('files with unusual names are read-only, and others are not', async () => {
  await using here = await lab()
  const names = ['.env', 'with space.key', '#hash.pem', 'tab\t.key', "quote's.key", 'back\\slash.key']
  await protect(here, names)
  const { stderr } = here.run(
    'for f in .* *; do echo changed > "$f"; done; echo x > "$HOME/guard/kernel/more"',
  )
  expect(stderr).toContain('Read-only file system')
  for (const name of names) expect(readFileSync(join(here.root, name), 'utf8')).toBe('kept\n')
  expect(readFileSync(join(here.root, 'ordinary.txt'), 'utf8')).toBe('changed\n')
  expect(stderr).toMatch(/guard\/kernel\/more: Read-only file system/)
})

needs('kernel layer', works)('the secrets of the helper cannot be read by a command', async () => {
  await using here = await lab()
  await protect(here, ['.env'])
  writeFileSync(join(here.guardHome, 'run/0123'), 'secret\n', { mode: 0o600 })
  const { stdout, stderr } = here.run('ls "$HOME/guard"; cat "$HOME/guard/run/"*; grep -rs "^secret" "$HOME"')
  expect(stdout).toContain('run\n')
  expect(stdout).not.toContain('secret')
  expect(stderr).not.toContain('Gantry guard')
})

needs('kernel layer', works)(
  'a hook of the guard in one line may write its ledger, and a command that resembles it may not',
  async () => {
    await using here = await lab()
    await protect(here, ['.env'])
    const hook = join(here.guardHome, 'bin', 'claude-1', 'gantry-hook.cjs')
    writePrivateProgram(hook, '#!/bin/sh\necho "$1" > "$HOME/guard/written"\n')
    const line = `[ -e ${here.guardHome} ] || [ -e ${here.root}/.harness ] || exit 0; exec ${hook} PreToolUse`
    expect(here.run(line)).toEqual({ stdout: '', stderr: '' })
    expect(readFileSync(join(here.guardHome, 'written'), 'utf8')).toBe('PreToolUse\n')
    for (const other of [
      `true && ${line}`,
      `eval '${line}'`,
      line.replace('; exec ', '; true; exec '),
      line.replace('; exec ', `; exec ${here.guardHome}/bin/../`),
      `[ -e / ] || exit 0; exec sh -c ${hook}`,
    ])
      expect(here.run(other).stderr, other).toMatch(/Read-only file system|not found|No such/)
  },
)

test('a command that cannot be protected runs, and says so', async () => {
  await using here = await lab()
  expect(here.run('echo ran')).toEqual({
    stdout: 'ran\n',
    stderr:
      'Gantry guard: protected files are not read-only for this command: the hook of the guard did not run in this session. Changes are noticed afterwards.\n',
  })
  writeFileSync(join(here.guardHome, 'kernel/s1.off'), 'bwrap is missing\n')
  expect(here.run('echo ran').stderr).toContain('for this command: bwrap is missing.')
  expect(here.run('echo ran', '../s1').stderr).toContain('did not run in this session')
})

test("a command without the mounts does not keep its changes to the guard's own files", async () => {
  await using here = await lab()
  const hook = join(here.guardHome, 'bin/claude-code-1/gantry-hook.cjs')
  writePrivateProgram(hook, '#!/bin/sh\necho "guarded\\n"\n')
  const settings = join(here.root, '.claude/settings.local.json')
  const text = `{ "hooks": "${hook}" }\n\n`
  mkdirSync(join(here.root, '.claude'))
  writeFileSync(settings, text)
  writeFileSync(join(here.guardHome, 'kernel/s1.own'), `${settings}\n/none\n`)
  const { stderr } = here.run(`echo exit > ${hook}; rm -r .claude; touch .claude; exit 3`)
  expect(stderr).toContain(`this command changed ${hook}, which belongs to the guard. It was put back.`)
  expect(readFileSync(hook, 'utf8')).toBe('#!/bin/sh\necho "guarded\\n"\n')
  expect(readFileSync(settings, 'utf8')).toBe(text)
  const granted = `{ "hooks": "${hook}", "permissions": {} }\n`
  expect(here.run(`rm ${hook}; echo '${granted}' > .claude/settings.local.json`).stderr).toContain('put back')
  expect(readFileSync(settings, 'utf8')).toBe(`${granted}\n`)
  expect(here.run(hook).stdout).toContain('guarded')
})

needs('kernel layer', works).each<[command: string, output?: string]>([
  ['gantry guard verify --json', 'verified by guard verify --json\n'],
  ['gantry guard verify 2>&1 | tail -5'],
  ['gantry guard verify; echo "exit: $?"', 'verified by guard verify\nexit: 0\n'],
  ['cd .. && gantry guard verify 2>&1 | tail'],
  ['/opt/gantry/bin/gantry guard verify'],
  [`'"'"'/opt/node/bin/node'"'"' '"'"'/opt/gantry/src/bin.ts'"'"' guard verify`],
  ['npx --yes gantry guard verify'],
  ['bun x gantry guard verify && true'],
  ['CI=1 NO_COLOR=1 node_modules/.bin/gantry guard verify'],
  ['cd . && timeout 300 npx gantry guard verify 2>&1 | tee log'],
  ['set -o pipefail; env CI=1 ./node_modules/.bin/gantry guard verify > log; cat log'],
])('`guard verify` is run by the program of the guard however it is written: %s', async (command, output) => {
  await using here = await lab()
  await protect(here, ['.env'])
  const { stdout, stderr } = here.run(`true && eval '${command}' < /dev/null && :`)
  expect({ stdout, stderr }).toEqual({ stdout: output ?? 'verified by guard verify\n', stderr: '' })
})

needs('kernel layer', works)('what stands beside `guard verify` cannot change protected files', async () => {
  await using here = await lab()
  await protect(here, ['.env'])
  const verify = (command: string) => here.run(`true && eval '${command}' < /dev/null && :`)
  for (const more of [' > .env', ' | tee .env', '; rm .env'])
    expect(verify(`gantry guard verify${more}`).stderr).toMatch(/Read-only file system|busy/)
  for (const other of ['rm .env; gantry guard verify', 'gantry guard verify $(rm .env)', 'tee guard verify'])
    expect(verify(other).stdout).not.toContain('verified by')
  expect(verify('npm test; gantry guard verify').stderr).toContain('only as a call of its own')
  expect(readFileSync(join(here.root, '.env'), 'utf8')).toBe('kept\n')
})

needs('kernel layer', works)(
  'only a single command of a program that needs it runs unprotected, and says so',
  async () => {
    await using here = await lab()
    await protect(here, ['kept.txt'])
    const run = (command: string) => here.run(`true && eval '${command}' < /dev/null && pwd`)
    expect(run('umount --version').stderr).toContain('umount does not work with it')
    for (const command of ['echo x > kept.txt # mount ', 'umount --version; echo x > kept.txt']) {
      expect(run(command).stderr).toContain('Read-only file system')
      expect(readFileSync(join(here.root, 'kept.txt'), 'utf8')).toBe('kept\n')
    }
    expect(run('grep -c " mount " kept.txt').stderr).not.toContain('Gantry guard')
  },
)

test('an agent whose commands do not go through the program gets the reason', async () => {
  await using place = await createFixture({ '.claude/settings.local.json': '{}' })
  const request = {
    root: place.path,
    home: '/nowhere',
    guardHome: '/nowhere',
    session: 's1',
    env: {},
    index: { patterns: '', directories: {}, files: {}, isPartial: false },
    own: [],
    anew: true,
  }
  expect(await prepareKernel({ ...request, agent: 'gemini' })).toBe('it is not available for gemini')
  expect(await prepareKernel({ ...request, agent: 'claude-code' })).toContain('--enforce kernel')
  const env = { CLAUDE_CODE_SHELL_PREFIX: '/guard/bin/gantry-shell' }
  await place.writeFile('.claude/settings.local.json', JSON.stringify({ env }))
  const named = { ...request, agent: 'claude-code' }
  expect(await prepareKernel(named), 'the variable is not set yet').toBeNull()
  expect(await prepareKernel({ ...named, anew: false }), 'it is not set for a command').not.toBeNull()
})

test("the gate's own runs use the shell of the session, if files are read-only in it", async () => {
  await using home = await createFixture({ 'kernel/works.bwrap': '', 'kernel/fails.off': 'it needs Linux\n' })
  const env = { CLAUDE_CODE_SHELL_PREFIX: '/guard/bin/gantry-shell' }
  expect(kernelShell(home.path, 'works', env)).toBe('/guard/bin/gantry-shell')
  expect(kernelShell(home.path, 'fails', env)).toBe(null)
  expect(kernelShell(home.path, 'unknown', env)).toBe(null)
  expect(kernelShell(home.path, 'works', { CLAUDE_CODE_SHELL_PREFIX: '/usr/bin/time' })).toBe(null)
})
