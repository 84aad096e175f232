import { isObject } from '../../core/json-fields.ts'
import type { ProjectFiles } from './project-files.ts'

const managers = ['npm', 'pnpm', 'yarn', 'bun'] as const
type PackageManager = (typeof managers)[number]

const lockfiles: Readonly<Record<string, PackageManager>> = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
}

/** Scripts that verify, in the order in which they are told. */
const scripts = ['test', 'lint', 'typecheck'] as const

/** Commands of package.json, in the words of the package manager the project uses. */
export function packageScripts(files: ProjectFiles): readonly string[] {
  const manifest = manifestOf(files)
  const manager = packageManager(files)
  return scripts.filter((name) => isReal(manifest.scripts[name])).map((name) => invocation(manager, name))
}

export function packageManager(files: ProjectFiles): PackageManager {
  const { packageManager: named } = manifestOf(files)
  const declared = managers.find((name) => named === name || named?.startsWith(`${name}@`))
  const locked = Object.entries(lockfiles).find(([file]) => files.names.has(file))
  return declared ?? locked?.[1] ?? 'npm'
}

function invocation(manager: PackageManager, script: (typeof scripts)[number]): string {
  // `bun test` is Bun's own runner, not the script.
  return script === 'test' && manager !== 'bun' ? `${manager} test` : `${manager} run ${script}`
}

/** What `npm init` writes when nobody has a test. */
function isReal(script: unknown): boolean {
  return typeof script === 'string' && script.trim() !== '' && !/no test specified/.test(script)
}

interface Manifest {
  readonly scripts: Readonly<Record<string, unknown>>
  readonly packageManager: string | undefined
}

function manifestOf(files: ProjectFiles): Manifest {
  const value = parsed(files.read('package.json'))
  const scripts = isObject(value.scripts) ? value.scripts : {}
  const named = value.packageManager
  return { scripts, packageManager: typeof named === 'string' ? named : undefined }
}

/** JSON as far as it is one; a file that is being written tells nothing. */
export function parsed(text: string | null): Readonly<Record<string, unknown>> {
  if (text === null) return {}
  try {
    const value: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
