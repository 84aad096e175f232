import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../test/support/needs.ts'
import { findProgram } from './find-program.ts'
import { plainGitSettings, readGitSettings } from './git-repository.ts'
import { isMissing } from './path-kind.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const path = process.env.PATH ?? ''
const usual = needs(
  'git settings: a git of the system without settings of the system',
  process.platform === 'linux' && findProgram('git', path) === '/usr/bin/git' && isMissing('/etc/gitconfig'),
)

function lab() {
  const scratch = temporaryDirectory('gantry-git-settings-')
  onTestFinished(() => scratch[Symbol.dispose]())
  const home = join(scratch.path, 'home')
  const root = join(scratch.path, 'root')
  for (const dir of [join(home, '.config/git'), join(root, '.git')]) mkdirSync(dir, { recursive: true })
  writeFileSync(join(root, '.git/config'), '[core]\n\tbare = false\n')
  return { home, root, env: { HOME: home, PATH: path } }
}

usual('git is not asked when no file mentions filters', () => {
  const { root, env } = lab()
  expect(plainGitSettings(root, env)).toEqual({ filters: [], objectFormat: 'sha1' })
})

usual.each([
  ['root/.git/config', '[filter "x"]\n clean = y\n'],
  ['root/.git/config', '[FILTER.x]\nclean = y\n'],
  ['root/.git/config', '[include]\n path = other\n'],
  ['root/.git/config', '[includeIf "gitdir:/"]\n path = other\n'],
  ['root/.git/config', '[extensions]\n objectFormat = sha256\n'],
  ['root/.git/commondir', '../elsewhere\n'],
  ['home/.gitconfig', '[filter "lfs"]\n process = git-lfs\n'],
  ['home/.config/git/config', '[filter "lfs"]\n process = git-lfs\n'],
  ['home/.gitconfig', `# ${'x'.repeat(70_000)}\n`],
])('%s with %j needs git', (file, text) => {
  const { root, env } = lab()
  writeFileSync(join(root, '..', file), text)
  expect(plainGitSettings(root, env)).toBeNull()
})

usual('a dangling link or other locations of the settings need git', () => {
  const { root, home, env } = lab()
  expect(plainGitSettings(root, { ...env, GIT_CONFIG_GLOBAL: '/nowhere' })).toBeNull()
  expect(plainGitSettings(root, { ...env, PATH: '/nowhere' })).toBeNull()
  expect(plainGitSettings(root, { PATH: path })).toBeNull()
  symlinkSync('/nowhere/at/all', join(home, '.gitconfig'))
  expect(plainGitSettings(root, env)).toBeNull()
})

test('the listing of git is read by section, and the last value counts', () => {
  const listed = 'core.bare\nfalse\0filter.a b.clean\nx\0filter.a b.smudge\ny\0filter.c.process\nz\0'
  expect(readGitSettings(listed)).toEqual({ filters: ['a b', 'c'], objectFormat: 'sha1' })
  expect(readGitSettings('extensions.objectformat\nsha256\0').objectFormat).toBe('sha256')
})
