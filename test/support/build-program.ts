import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { globSync } from 'tinyglobby'
import { buildHook } from '../../scripts/build-hook.ts'
import { buildProgram } from '../../scripts/build-program.ts'
import { buildView } from '../../scripts/build-view.ts'
import { program, programDirectory } from './program.ts'

const root = join(import.meta.dirname, '../..')

/** Builds the program once for all tests that start it, unless the one that is there is newer than every source file. */
export async function setup(): Promise<void> {
  if (existsSync(program) && statSync(program).mtimeMs > newestSource()) return
  mkdirSync(dirname(programDirectory), { recursive: true })
  const made = mkdtempSync(join(dirname(programDirectory), 'program-'))
  await buildProgram(join(made, 'cli'))
  await buildHook(join(made, 'hook/hook-bin.js'))
  await buildView(join(made, 'view'))
  // Otherwise Node parses every file twice to find out that it is a module.
  writeFileSync(join(made, 'package.json'), '{ "type": "module" }\n')
  // Some tests start it as another user.
  chmodSync(made, 0o755)
  rmSync(programDirectory, { recursive: true, force: true })
  renameSync(made, programDirectory)
}

function newestSource(): number {
  const files = globSync(
    ['src/**/*.{ts,css,js,pl,sh,sql}', 'web/**/*.{ts,tsx,css,html}', 'scripts/*.ts', 'package.json'],
    {
      cwd: root,
      absolute: true,
    },
  )
  return Math.max(...files.map((file) => statSync(file).mtimeMs))
}
