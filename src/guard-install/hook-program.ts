import { dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { readTextIfExists } from '../io/directory.ts'
import { exec } from '../io/exec.ts'
import { isFile } from '../io/path-kind.ts'
import { currentBundle } from './current-bundle.ts'

export interface HookProgram {
  /** Absolute: the current Node, so that the agent's PATH does not decide. */
  readonly node: string
  readonly hookBin: string
}

/**
 * The program that every hook starts: `hook/hook-bin.js` of the published package, or `bin/hook-bin.js` of a checkout, which runs a bundle
 * while it is current and the sources otherwise.
 */
export function hookBinPath(from: string = import.meta.dirname): string {
  for (let directory = from; ; directory = dirname(directory)) {
    const found = ['hook/hook-bin.js', inCheckout].map((name) => join(directory, name)).find(isFile)
    if (found !== undefined) return found
    if (dirname(directory) === directory) break
  }
  throw new GantryError('NOT_FOUND', 'the hook program was not found', {
    hint: 'Install Gantry again, or build it: npm run build.',
  })
}

/** The program of the hooks that this process installs. */
export function ownHookProgram(): HookProgram {
  return { node: process.execPath, hookBin: hookBinPath() }
}

const inCheckout = 'bin/hook-bin.js'

/** The hook program as the text of one file; null in a checkout whose bundle is missing or outdated. */
export function bundledHook(hookBin: string): string | null {
  if (hookBin !== join(dirname(dirname(hookBin)), inCheckout))
    return hookBin.endsWith('.js') ? readTextIfExists(hookBin) : null
  const bundle = currentBundle(hookBin)
  return bundle === null ? null : readTextIfExists(bundle)
}

/** Builds the bundle of a checkout now, so that the first hooks are not slower. Without the bundler hooks run from source. */
export async function buildCheckoutHook({ node, hookBin }: HookProgram): Promise<void> {
  const root = dirname(dirname(hookBin))
  if (hookBin !== join(root, inCheckout) || bundledHook(hookBin) !== null) return
  const argv = [node, join(root, 'scripts/build-hook.ts'), '--for-checkout'] as const
  await exec({ argv, cwd: root, env: {}, timeoutMs: 120_000, maxOutputBytes: 4_096 })
}
