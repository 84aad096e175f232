import { findProgram } from './find-program.ts'
import { isDirectory, isFile, isMissing } from './path-kind.ts'
import { readShortText } from './read-short-text.ts'

/** What has to be known of git's configuration before git may look at a repository. */
export interface GitSettings {
  /** Names of the drivers that would run a program on the content of files. */
  readonly filters: readonly string[]
  readonly objectFormat: 'sha1' | 'sha256'
}

/** What `git config --list -z` printed. */
export function readGitSettings(listed: string): GitSettings {
  const settings = listed.split('\0').map((setting) => setting.split('\n', 2))
  const drivers = settings.map(([key]) => /^filter\.(.+)\.(?:clean|process)$/s.exec(key ?? '')?.[1])
  const format = settings.findLast(([key]) => key === 'extensions.objectformat')
  return {
    filters: [...new Set(drivers.filter((name) => name !== undefined))],
    objectFormat: format?.[1] === 'sha256' ? 'sha256' : 'sha1',
  }
}

/**
 * The settings where no file that git would read can say anything about them, which is how most repositories are; null where git
 * has to be asked. A section's name stands in its file as it is, so that a text without the word has no such section.
 */
export function plainGitSettings(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): GitSettings | null {
  const { HOME: home = '', PATH: path = '', XDG_CONFIG_HOME: configHome = '' } = env
  // Where the system's settings are depends on how git was built: for this one it is known.
  if (process.platform !== 'linux' || findProgram('git', path) !== '/usr/bin/git' || home === '') return null
  if (Object.keys(env).some((name) => name.startsWith('GIT_CONFIG'))) return null
  const own = `${root}/.git`
  if (!isDirectory(own) || !isMissing(`${own}/commondir`) || !isFile(`${own}/config`)) return null
  const files = [
    '/etc/gitconfig',
    `${configHome === '' ? `${home}/.config` : configHome}/git/config`,
    `${home}/.gitconfig`,
    `${own}/config`,
  ]
  return files.every(saysNothing) ? { filters: [], objectFormat: 'sha1' } : null
}

const maxBytes = 65_536

function saysNothing(file: string): boolean {
  if (isMissing(file)) return true
  const text = readShortText(file, maxBytes)
  return text !== null && !/filter|include|extensions/i.test(text)
}
