import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../src/io/temporary-directory.ts'
import { toolchainFiles } from './packages.ts'
import { testImages } from './test-images.ts'

/** The full image of the tests, with the toolchains of the machine's packages in a layer of their own. */
export const toolchainImage = 'gantry-test-toolchains:local'

const label = 'gantry.recipe'

/** Rebuilt when the full image or this recipe changes. Returns the problem, or null. */
export function buildToolchainImage(dockerHost: string): string | null {
  const inspect = (format: string, name: string): string =>
    spawnSync('docker', ['-H', dockerHost, 'image', 'inspect', '--format', format, name], {
      encoding: 'utf8',
    }).stdout.trim()
  const hash = createHash('sha256').update(inspect('{{.Id}}', testImages.full))
  for (const file of ['packages.ts', 'toolchain-image.ts'])
    hash.update(readFileSync(join(import.meta.dirname, file)))
  const recipe = hash.digest('hex').slice(0, 16)
  if (inspect(`{{index .Config.Labels "${label}"}}`, toolchainImage) === recipe) return null
  console.log('Building the image with toolchains …')
  using context = temporaryDirectory('gantry-toolchains-')
  try {
    writeFileSync(join(context.path, 'Dockerfile'), `FROM ${testImages.full}\nADD layer.tar /\n`)
    writeLayer(context.path)
    const args = ['-H', dockerHost, 'build', '--label', `${label}=${recipe}`, '-t', toolchainImage, '.']
    // The other builder is a plugin that not every machine has.
    const env = { ...process.env, DOCKER_BUILDKIT: '0' }
    execFileSync('docker', args, { cwd: context.path, env, stdio: ['ignore', 'ignore', 'pipe'] })
    return null
  } catch (cause) {
    return `the image with toolchains cannot be built: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}

function writeLayer(directory: string): void {
  symlinkSync('gcc', join(directory, 'cc'))
  const files = toolchainFiles().flatMap((file) => {
    const stats = lstatSync(file, { throwIfNoEntry: false })
    // `/lib` and `/bin` are always links into `/usr` in the image.
    const isWanted = stats?.isFile() || stats?.isSymbolicLink()
    return isWanted ? [file.replace(/^\/(?=bin|lib)/, '/usr/').slice(1)] : []
  })
  const tar = [
    '--no-recursion',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--transform=s,^cc$,usr/bin/cc,',
  ]
  execFileSync('tar', [...tar, '-cf', 'layer.tar', 'cc', '-C', '/', '-T', '-'], {
    cwd: directory,
    input: files.join('\n'),
  })
}
