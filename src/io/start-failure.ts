import { existsSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import type { ChildRequest } from './child.ts'
import { isDirectory } from './path-kind.ts'

/** Why a program could not be started. The system has one word for a missing program, directory and interpreter. */
export function startFailure({ argv: [file], cwd, env }: ChildRequest, cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null
  if (!isDirectory(cwd))
    return `cannot start ${file}: the working directory ${cwd} does not exist or is not a directory`
  if (code === 'E2BIG')
    return `cannot start ${file}: its arguments and environment are longer than the system allows`
  if (code === 'EACCES' || code === 'ENOEXEC') return `cannot start ${file}: it is not an executable file`
  if (code !== 'ENOENT')
    return `cannot start ${file}: ${cause instanceof Error ? cause.message : String(cause)}`
  if (file.includes('/'))
    return existsSync(resolve(cwd, file))
      ? `cannot start ${file}: the interpreter in its first line is not there`
      : `cannot start ${file}: there is no such file`
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.some((folder) => existsSync(resolve(cwd, folder, file)))
    ? `cannot start ${file}: the interpreter in its first line is not there`
    : `cannot start ${file}: it is not on the PATH (${env.PATH ?? 'which is not set'})`
}
