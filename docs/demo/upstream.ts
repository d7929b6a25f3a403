// The dependency: a real HTTP server on a free loopback port that is as healthy as the present phase says.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Health } from './phases.js'

export class Upstream {
  readonly url: string
  /** Requests that arrived, whatever became of them. */
  received = 0
  health: Health = 'healthy'

  readonly #server: Server
  readonly #slowMs: number
  readonly #timers = new Set<NodeJS.Timeout>()

  static async start(slowMs: number): Promise<Upstream> {
    const server = createServer()
    // Longer than any run: no idle connection may close under a request, that would be an error of the demo's own making.
    server.keepAliveTimeout = 600_000
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    return new Upstream(server, slowMs)
  }

  private constructor(server: Server, slowMs: number) {
    this.#server = server
    this.#slowMs = slowMs
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', (request, response) => this.#serve(request, response))
  }

  /** Ends every connection, answered or not. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  connections(): Promise<number> {
    return new Promise((resolve) => this.#server.getConnections((error, count) => resolve(error ? 0 : count)))
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const nth = this.received++
    switch (this.health) {
      case 'healthy':
        this.#answerIn(2 + (nth % 5), request, response)
        break
      case 'slow':
        this.#answerIn(this.#slowMs, request, response)
        break
      case 'failing':
        if (nth % 3 === 0) request.socket.resetAndDestroy()
        else response.writeHead(503, { 'content-type': 'text/plain' }).end('the database is away')
        break
      case 'hung':
        // Neither an answer nor an error, until the client gives up.
        break
    }
  }

  #answerIn(delayMs: number, request: IncomingMessage, response: ServerResponse): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      const id = Number(request.url?.split('/').at(-1))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, name: `user ${id}` }))
    }, delayMs)
    this.#timers.add(timer)
  }
}
