"""The native hosts: asyncio servers that put sockets and TLS under the sans-io connections of `replayproxy.wire`.

`native.NativeHost` listens; `connection.ClientConnection` is one client, whose exchanges `replayproxy.replay` answers;
`control.ControlService` asks the control API's router. Nothing in here opens an outgoing socket or resolves a name.
"""
