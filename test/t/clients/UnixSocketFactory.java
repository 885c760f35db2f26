// Lets the JDBC driver, which knows TCP only, reach a server that listens on a
// unix socket: socketFactory=UnixSocketFactory, socketFactoryArg=the socket.

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import javax.net.SocketFactory;

public class UnixSocketFactory extends SocketFactory {
	private final String path;

	public UnixSocketFactory(String path) {
		this.path = path;
	}

	@Override
	public Socket createSocket() {
		return new UnixSocket(path);
	}

	@Override
	public Socket createSocket(String host, int port) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Socket createSocket(String host, int port, InetAddress local, int localPort) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Socket createSocket(InetAddress host, int port) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) {
		throw new UnsupportedOperationException();
	}

	// what the driver asks of a socket; options of TCP are taken and ignored
	private static class UnixSocket extends Socket {
		private final String path;
		private SocketChannel channel;

		UnixSocket(String path) {
			this.path = path;
		}

		@Override
		public void connect(SocketAddress ignored, int timeout) throws IOException {
			channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
		}

		@Override
		public void connect(SocketAddress ignored) throws IOException {
			connect(ignored, 0);
		}

		@Override
		public InputStream getInputStream() {
			return Channels.newInputStream(channel);
		}

		@Override
		public OutputStream getOutputStream() {
			return Channels.newOutputStream(channel);
		}

		@Override
		public boolean isConnected() {
			return channel != null;
		}

		@Override
		public boolean isClosed() {
			return channel != null && !channel.isOpen();
		}

		@Override
		public void close() throws IOException {
			if (channel != null)
				channel.close();
		}

		@Override
		public void setSoTimeout(int timeout) {
		}

		@Override
		public int getSoTimeout() {
			return 0;
		}

		@Override
		public void setTcpNoDelay(boolean on) {
		}

		@Override
		public void setKeepAlive(boolean on) {
		}

		@Override
		public int getSendBufferSize() {
			return 8192;
		}
	}
}
