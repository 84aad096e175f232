import { useState } from 'react'
import { call } from '../api/client.ts'
import { Problem } from '../parts/states.tsx'

/** For a browser that the server does not know. */
export function SignIn({ onDone }: { readonly onDone: () => void }) {
  const [token, setToken] = useState('')
  const [error, setError] = useState<unknown>(null)
  return (
    <main className="sign-in">
      <h1>Gantry</h1>
      <p>
        This browser is not signed in. Run <code>gantry view</code> in a terminal: it opens this page with a
        code that works once.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          call('signIn', { body: { token: token.trim() } }).then(onDone, setError)
        }}
      >
        <label>
          Or paste the token of the server
          <input
            type="password"
            autoComplete="off"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <button type="submit">Sign in</button>
      </form>
      {error !== null && <Problem error={error} />}
    </main>
  )
}
