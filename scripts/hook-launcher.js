#!/usr/bin/env node
// The program of the guard's hooks. Its code is in the comment below, because Node would parse all of it at every start. Here the
// sections that are needed are compiled, and what V8 made of them is kept in the guard's home. Works as a module of either kind.
;(() => {
  const fs = process.getBuiltinModule('node:fs')
  const { join } = process.getBuiltinModule('node:path')
  const { Script } = process.getBuiltinModule('node:vm')
  const file = process.argv[1]
  const sections = JSON.parse('SECTIONS')

  /** An agent takes any other exit code for a hook that has nothing to say. */
  const fail = (error) => {
    fs.writeSync(2, `the guard itself failed: ${error instanceof Error ? error.message : error}\n`)
    process.exit(2)
  }

  try {
    const fd = fs.openSync(file, 'r')
    const cache = cacheDirectory(fs.fstatSync(fd))
    const loaded = new Map()
    const load = (id) => {
      if (sections[id] === undefined) return process.getBuiltinModule(id)
      const known = loaded.get(id)
      if (known !== undefined) return known.module.exports
      const [from, to] = sections[id]
      const bytes = Buffer.allocUnsafe(to - from)
      for (let at = 0; at < bytes.length; ) at += fs.readSync(fd, bytes, at, bytes.length - at, from + at)
      const code = bytes.latin1Slice().replaceAll('*\u0001/', '*/')
      const cachedData = cache === null ? undefined : contentOf(cachePath(cache, id))
      const script = new Script(`(function (exports, require, module) {${code}\n})`, {
        filename: `${file}:${id}`,
        cachedData,
      })
      const module = { exports: {} }
      loaded.set(id, { module, script, isKnown: cachedData !== undefined && !script.cachedDataRejected })
      script.runInThisContext()(module.exports, load, module)
      return module.exports
    }
    load('section:main')
      .hookMain(file, () => keep(cache, loaded))
      .catch(fail)
  } catch (error) {
    fail(error)
  }

  /** Where only this user can write: whoever writes there decides what runs. One for each event, which need different parts. */
  function cacheDirectory({ size, mtimeMs }) {
    const { GANTRY_GUARD_HOME: own = '', XDG_STATE_HOME: state = '', HOME: home = '' } = process.env
    const parent = state.startsWith('/') ? state : join(home, '.local/state')
    const guardHome = own.startsWith('/') ? own : join(parent, 'gantry/guard')
    if (!guardHome.startsWith('/')) return null
    const event = process.argv
      .slice(2)
      .join('-')
      .replaceAll(/[^\w-]/g, '')
      .slice(0, 60)
    return join(guardHome, 'cache', `hook-${process.version}-${process.arch}-${size}-${mtimeMs}`, event)
  }

  function cachePath(cache, id) {
    return join(cache, `${id.slice('section:'.length)}.bin`)
  }

  function contentOf(path) {
    try {
      return fs.readFileSync(path)
    } catch {
      return undefined
    }
  }

  /** A start without it is only slower, so what goes wrong here is nobody's business. Now and then what came into use since is added. */
  function keep(cache, loaded) {
    const isDue = Date.now() % 32 === 0
    for (const [id, { script, isKnown }] of loaded) {
      if (cache === null || (isKnown && !isDue)) continue
      const draft = `${cachePath(cache, id)}.${process.pid}.tmp`
      try {
        fs.mkdirSync(cache, { recursive: true, mode: 0o700 })
        fs.writeFileSync(draft, script.createCachedData(), { mode: 0o600, flag: 'wx' })
        fs.renameSync(draft, cachePath(cache, id))
      } catch {
        fs.rmSync(draft, { force: true })
      }
    }
  }
})()
