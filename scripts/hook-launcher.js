#!/usr/bin/env node
// The program of the guard's hooks. Its code is packed into the comment below, because Node reads and scans all of this file at
// every start. Here the sections that are needed are compiled; they and what V8 made of them are kept in the guard's home. Works
// as a module of either kind.
;(() => {
  const fs = process.getBuiltinModule('node:fs')
  const { Script } = process.getBuiltinModule('node:vm')
  const file = process.argv[1]
  const sections = JSON.parse('SECTIONS')

  /** Agents ignore a hook with any other exit code. */
  const fail = (error) => {
    fs.writeSync(2, `the guard itself failed: ${error instanceof Error ? error.message : error}\n`)
    process.exit(2)
  }

  try {
    const cache = cacheDirectory(fs.statSync(file))
    const loaded = new Map()
    const load = (id) => {
      const known = loaded.get(id)
      if (known !== undefined) return known.module.exports
      if (sections[id] === undefined) return process.getBuiltinModule(id)
      const section = keptSection(cache, id) ?? packedSection(id)
      const module = { exports: {} }
      loaded.set(id, { module, ...section })
      section.script.runInThisContext()(module.exports, load, module)
      return module.exports
    }
    load('section:main')
      .hookMain(file, () => keep(cache, loaded))
      .catch(fail)
  } catch (error) {
    fail(error)
  }

  /**
   * Only this user can write there, because what is written there runs. One for each event, because they need different parts, and for
   * Node's options, because V8 takes nothing that was made with others.
   */
  function cacheDirectory({ size, mtimeMs }) {
    const { GANTRY_GUARD_HOME: own = '', XDG_STATE_HOME: state = '', HOME: home = '' } = process.env
    const parent = state.startsWith('/') ? state : `${home}/.local/state`
    const guardHome = own.startsWith('/') ? own : `${parent}/gantry/guard`
    if (!guardHome.startsWith('/')) return null
    const event = process.argv
      .slice(2)
      .filter((word) => !word.startsWith('--launched='))
      .join('-')
      .replaceAll(/[^\w-]/g, '')
      .slice(0, 60)
    const edition = `${process.version}-${process.arch}-${size}-${mtimeMs}`
    return `${guardHome}/cache/hook-${edition}/${process.execArgv.length}${event}`
  }

  function keptPath(cache, id) {
    return `${cache}/${id.slice('section:'.length)}.bin`
  }

  /** Code and what V8 made of it, as `keep` left them; null when they are not there or not whole. */
  function keptSection(cache, id) {
    const { codeLength } = sections[id]
    const bytes = cache === null ? null : contentOf(keptPath(cache, id))
    if (bytes === null || bytes.length <= codeLength) return null
    const code = bytes.latin1Slice(0, codeLength)
    if (!code.startsWith('(function') || !code.endsWith('})')) return null
    const script = new Script(code, { filename: `${file}:${id}`, cachedData: bytes.subarray(codeLength) })
    return script.cachedDataRejected ? null : { code, script, isKept: true }
  }

  function packedSection(id) {
    const { from, to } = sections[id]
    const packed = Buffer.from(fs.readFileSync(file, 'latin1').slice(from, to), 'base64')
    const code = process.getBuiltinModule('node:zlib').brotliDecompressSync(packed).latin1Slice()
    return { code, script: new Script(code, { filename: `${file}:${id}` }), isKept: false }
  }

  function contentOf(path) {
    try {
      return fs.readFileSync(path)
    } catch {
      return null
    }
  }

  /** A start without it is only slower, so errors are ignored. Now and then, what has been used since is added. */
  function keep(cache, loaded) {
    const isDue = Date.now() % 32 === 0
    for (const [id, { code, script, isKept }] of loaded) {
      if (cache === null || (isKept && !isDue)) continue
      const draft = `${keptPath(cache, id)}.${process.pid}.tmp`
      try {
        fs.mkdirSync(cache, { recursive: true, mode: 0o700 })
        const bytes = Buffer.concat([Buffer.from(code, 'latin1'), script.createCachedData()])
        fs.writeFileSync(draft, bytes, { mode: 0o600, flag: 'wx' })
        fs.renameSync(draft, keptPath(cache, id))
      } catch {
        fs.rmSync(draft, { force: true })
      }
    }
  }
})()
