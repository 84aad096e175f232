#!/usr/bin/env node
// The program of the guard's hooks in a checkout; the published package has its own. Runs the bundle of the sources while no
// source has changed since it was made. Otherwise this hook runs from source, which is slower, and a new bundle is made in the
// background for the hooks that follow. Works as a module of either kind.
;(() => {
  const fs = process.getBuiltinModule('node:fs')
  const { createRequire } = process.getBuiltinModule('node:module')
  const { dirname, join } = process.getBuiltinModule('node:path')
  const root = dirname(dirname(fs.realpathSync(process.argv[1])))
  const cache = join(root, 'node_modules/.cache/gantry')
  const lock = join(cache, 'hook-bundle.lock')
  /** After this the process that held the lock has certainly ended. */
  const lockMs = 120_000

  const bundle = currentBundle()
  if (bundle === null) startBuild()
  if (bundle === null || !runs(bundle)) {
    process.argv[1] = join(root, 'src/hook-bin.ts')
    import('../src/hook-bin.ts').catch(fail)
  }

  /** false for a damaged bundle: it fails while it is loaded, before it has done anything. */
  function runs(file) {
    process.argv[1] = file
    try {
      createRequire(file)(file)
      return true
    } catch {
      fs.rmSync(join(cache, 'hook-bundle.json'), { force: true })
      return false
    }
  }

  /** An agent would treat any other exit code as a hook without a decision. */
  function fail(error) {
    fs.writeSync(2, `the guard itself failed: ${error instanceof Error ? error.message : error}\n`)
    process.exit(2)
  }

  /** null when there is no bundle, or when one of its sources changed. */
  function currentBundle() {
    const made = readJson(join(cache, 'hook-bundle.json'))
    if (typeof made?.bundle !== 'string' || !Array.isArray(made.sources)) return null
    const isCurrent = made.sources.every(([path, identity]) => {
      const now = fs.statSync(join(root, path), { throwIfNoEntry: false })
      return now !== undefined && `${now.size}-${now.mtimeMs}` === identity
    })
    const path = join(cache, made.bundle)
    return isCurrent && fs.statSync(path, { throwIfNoEntry: false })?.size === made.size ? path : null
  }

  function readJson(path) {
    try {
      return JSON.parse(fs.readFileSync(path, 'utf8'))
    } catch {
      return null
    }
  }

  /** One build at a time. Without the bundler, or where the cache cannot be written, hooks keep running from source. */
  function startBuild() {
    if (!fs.existsSync(join(root, 'node_modules/rolldown'))) return
    try {
      fs.mkdirSync(cache, { recursive: true })
      if (Date.now() - (fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > lockMs)
        fs.rmSync(lock, { force: true })
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' })
    } catch {
      return
    }
    const { spawn } = process.getBuiltinModule('node:child_process')
    const build = [join(root, 'scripts/build-hook.ts'), '--for-checkout']
    spawn(process.execPath, build, { cwd: root, detached: true, stdio: 'ignore' })
      .on('error', () => fs.rmSync(lock, { force: true }))
      .unref()
  }
})()
