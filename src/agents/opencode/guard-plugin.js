/** Every function that a plugin file exports is called as a plugin: there is one. */
export const GantryGuard = async ({ directory, worktree }) => {
  if (onlyIf !== null && !onlyIf.some((path) => existsSync(path))) return {}
  const started = new Map()
  /** Why the next start context of a session is requested, where an event says it. */
  const sources = new Map()

  const ask = (hook, session, payload) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, [...args, hook], { cwd: directory, stdio: ['pipe', 'pipe', 'pipe'] })
      const out = []
      const err = []
      const timeoutMs = timeoutsMs[hook]
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        reject(new Error(`the guard did not answer within ${timeoutMs} ms`))
      }, timeoutMs)
      child.stdout.on('data', (chunk) => out.push(chunk))
      child.stderr.on('data', (chunk) => err.push(chunk))
      child.stdin.on('error', () => {})
      child.on('error', (error) => {
        clearTimeout(timer)
        reject(new Error(`the guard could not be started: ${error.message}`))
      })
      child.on('close', (code) => {
        clearTimeout(timer)
        const text = Buffer.concat(out).toString('utf8').trim()
        const said = Buffer.concat(err).toString('utf8').trim()
        if (code !== 0 && code !== 2)
          return reject(new Error(`the guard failed with exit code ${code}: ${said}`))
        let answer = {}
        try {
          if (text !== '') answer = JSON.parse(text)
        } catch {
          return reject(new Error('the guard answered what is no JSON'))
        }
        if (code === 2 && !answer.deny) answer = { ...answer, deny: said || 'refused by the guard' }
        resolve(answer)
      })
      child.stdin.end(inputOf(hook, session, payload))
    })

  const inputOf = (hook, session, payload) =>
    JSON.stringify({ hook, session, directory, worktree, ...payload })

  /** opencode run exits as soon as a turn is over and waits for no plugin: the end is judged before opencode sees it. */
  const endsWithTurn = process.argv.slice(1).includes('run')
  const tellNow = (hook, session, payload) => {
    const input = inputOf(hook, session, payload)
    spawnSync(program, [...args, hook], {
      cwd: directory,
      input,
      timeout: timeoutsMs[hook],
      killSignal: 'SIGKILL',
    })
  }

  /** For what cannot be refused any more: the guard's own fault becomes a text. */
  const tell = async (hook, session, payload) => {
    try {
      return await ask(hook, session, payload)
    } catch (error) {
      return { context: `Gantry guard: ${error.message}` }
    }
  }

  const textOf = (answer) => [answer.deny, answer.context].filter(Boolean).join('\n\n')
  const sessionOf = ({ properties = {} }) =>
    properties.sessionID ?? properties.info?.id ?? properties.info?.sessionID ?? null

  const hooks = {
    'tool.execute.before': async ({ tool, sessionID, callID }, output) => {
      const answer = await ask('tool.execute.before', sessionID, { tool, callID, args: output.args })
      if (answer.deny) throw new Error(answer.deny)
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, output) => {
      const answer = await tell('tool.execute.after', sessionID, {
        tool,
        callID,
        args,
        output: output.output,
        metadata: output.metadata,
      })
      const text = textOf(answer)
      if (text !== '' && typeof output.output === 'string') output.output += `\n\n${text}`
    },
    'chat.message': async ({ sessionID }, { parts }) => {
      const prompt = parts
        .filter(({ type }) => type === 'text')
        .map(({ text }) => text)
        .join('\n')
      await tell('chat.message', sessionID, { output: prompt })
    },
    // Asked for anew with every request to the model: the guard is asked once, its answer is added each time.
    'experimental.chat.system.transform': async ({ sessionID }, output) => {
      if (!sessionID) return
      if (!started.has(sessionID)) {
        const payload = sources.has(sessionID) ? { metadata: { source: sources.get(sessionID) } } : {}
        started.set(sessionID, tell('experimental.chat.system.transform', sessionID, payload))
      }
      const answer = await started.get(sessionID)
      const text = [answer.system, textOf(answer)].filter(Boolean).join('\n\n')
      if (text !== '') output.system.push(text)
    },
    'experimental.session.compacting': async ({ sessionID }, output) => {
      const text = textOf(await tell('experimental.session.compacting', sessionID, {}))
      if (text !== '') output.context.push(text)
    },
    event: async ({ event }) => {
      const session = sessionOf(event)
      if (session === null) return
      if (event.type === 'session.created') sources.set(session, 'startup')
      if (event.type === 'session.compacted') {
        sources.set(session, 'compact')
        started.delete(session)
      }
      if (!Object.hasOwn(timeoutsMs, event.type)) return
      const payload = { metadata: event.properties }
      if (event.type === 'session.idle' && endsWithTurn) tellNow(event.type, session, payload)
      else await tell(event.type, session, payload)
    },
  }
  return Object.fromEntries(
    Object.entries(hooks).filter(([name]) => name === 'event' || Object.hasOwn(timeoutsMs, name)),
  )
}
